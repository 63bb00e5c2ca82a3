/**
 * What people make passwords of, compiled for this product: words, first names, seasons, teams, keyboard patterns. The
 * strength check takes digits, signs and leet spelling off a password before it looks here, so one entry stands for
 * the hundreds of variations that are tried first. Entries are lower-case letters.
 */
export const COMMON_WORDS: ReadonlySet<string> = new Set(
  `
  password passwort passwd passphrase passcode motdepasse contrasena senha wachtwoord haslo parola salasana losenord
  pass secret geheim secreto segreto login logon signin welcome willkommen bienvenue bienvenido benvenuto hello hallo
  hola bonjour ciao admin administrator administrador root superuser user username guest test testing tester demo
  default temp temporary changeme changeit change newpassword mypassword yourpassword thepassword letmein letme open
  opensesame sesame access entry enter keypass master system server service support helpdesk operator manager office
  company business internet network router modem gateway camera webcam hub hedgerow portal security secure private
  computer laptop desktop windows linux ubuntu debian apple macintosh android samsung iphone google facebook twitter
  instagram youtube linkedin microsoft oracle cisco dell lenovo sony nokia nintendo playstation xbox gamer gaming game
  minecraft fortnite roblox pokemon pikachu zelda mario sonic tetris warcraft starcraft diablo counter strike
  qwerty qwertz azerty qwert qwer asdf asdfg asdfgh asdfghjkl zxcv zxcvb zxcvbn zxcvbnm yxcv yxcvbnm qazwsx qazwsxedc
  wsxedc edcrfv qweasd qweasdzxc poiuy poiuytrewq lkjh lkjhgfdsa mnbvcxz abc abcd abcde abcdef abcdefg abcdefgh xyz
  aaa abcabc abcxyz qwe asd zxc qaz wsx iloveyou ilove iloveu loveyou loveme lovely lover love forever together always
  darling sweetheart sweetie honey baby babygirl babyboy angel princess prince queen king kitty kitten puppy doggy
  sunshine moonlight starlight rainbow butterfly flower flowers rose roses lily daisy violet jasmine orchid tulip
  summer sommer winter spring fruhling autumn herbst fall january february march april may june july august september
  october november december monday tuesday wednesday thursday friday saturday sunday weekend holiday vacation
  christmas easter halloween birthday family mother father mummy mommy daddy sister brother grandma grandpa friend
  friends bestfriend buddy freedom liberty peace heaven hell devil satan jesus christ god blessed faith church bible
  amen allah buddha hope trust believe dream dreams dreamer destiny karma magic wizard merlin gandalf frodo hobbit
  dragon dragons tiger lion eagle falcon hawk wolf bear panther cougar leopard jaguar cheetah shark dolphin whale
  monkey gorilla elephant giraffe zebra horse horses pony cowboy chicken rooster turkey duck goose penguin parrot
  turtle snake spider scorpion beetle bulldog poodle rabbit bunny hamster squirrel hedgehog badger fox deer moose
  football fussball soccer futbol baseball basketball hockey tennis golf golfer rugby cricket volleyball swimming
  running runner fishing hunter hunting shooter sniper soldier army navy marine airforce ranger warrior fighter boxing
  arsenal chelsea liverpool manchester united everton tottenham barcelona realmadrid madrid juventus milan inter bayern
  dortmund schalke celtic rangers yankees cowboys steelers packers raiders broncos patriots lakers bulls celtics
  eagles giants dodgers redsox cubs tigers lions bears panthers ravens dolphins gators
  superman batman spiderman ironman hulk thor wolverine deadpool joker marvel avengers starwars skywalker vader yoda
  jedi startrek spock enterprise matrix trinity neo terminator rambo rocky bond jamesbond hannibal godzilla
  harrypotter potter hermione dumbledore hogwarts simpsons homer bart snoopy garfield mickey minnie donald goofy
  michael jessica jennifer ashley amanda daniel daniela joshua jordan matthew andrew justin christopher christian
  nicholas nicole michelle stephanie samantha elizabeth charlotte caroline victoria alexander alexandra alexandre
  robert richard thomas charles patrick anthony william george james john david steven stephen kevin brian eric ryan
  jason brandon jonathan timothy peter paul mark marcus martin martina oliver olivia emma emily sophie sophia hannah
  laura sarah rachel rebecca andrea angela barbara maria marie anna julia katherine katie jacob tyler austin dakota
  dallas phoenix brooklyn paris london berlin vienna moscow tokyo newyork chicago boston denver houston miami
  california texas florida hawaii america american usa england scotland ireland france germany deutschland italy italia
  espana spain portugal brazil brasil mexico canada australia africa europe russia china japan india
  mustang corvette camaro ferrari porsche mercedes bmw audi toyota honda yamaha suzuki kawasaki harley davidson ducati
  chevrolet chevy ford dodge jeep nissan subaru volvo volkswagen tesla truck trucker racing racer nascar turbo
  guitar piano drummer music musica metal metallica slipknot nirvana beatles elvis eminem rockstar rockandroll
  rocknroll hiphop dancer dancing disco jazz blues reggae marley
  pizza burger cheese cookie cookies chocolate candy sugar banana apples orange lemon cherry strawberry peaches mango
  coconut pepper ginger vanilla coffee whiskey vodka tequila budweiser heineken guinness beer wine champagne
  red blue green yellow purple violet pink black white silver golden gold diamond crystal ruby emerald platinum
  pearl jade amber copper iron steel stone thunder lightning storm tornado hurricane blizzard snow snowball ocean
  beach island river mountain forest garden nature earth planet mars jupiter saturn galaxy universe cosmos space
  one two three onetwothree first second last number numbers number password lucky winner champion victory legend hero
  genius boss bigboss captain chief doctor nurse police teacher student school college university
  money cash dollar dollars million millionaire rich casino poker jackpot fortune treasure bank banking
  fuck fuckyou fucker fuckme shit asshole bitch bastard sexy sex sexsex hardcore pussy dick cock boobs tits
  whatever nothing something anything everything nobody somebody idontknow dontknow unknown noidea none null
  forgot forget remember please thankyou thanks sorry goodbye hellohello helloworld world hellothere okokok
  loser killer monster zombie vampire ghost ninja samurai pirate viking gladiator spartan titan phantom shadow
  blaster hacker hackme cracker matrix cyber robot robotics rocket racecar airplane pilot skater surfer snowboard
  creative spirit zeppelin hardrock maverick trouble scooter snickers sparky rusty lucky bailey buster harley jasper
  maggie oscar pepper rocky sammy shelby smokey tigger toby trixie winston zeus bella coco daisy luna molly sadie
  `
    .trim()
    .split(/\s+/),
)
