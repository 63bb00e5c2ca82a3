/**
 * The form in which usernames are compared, so that two people can't have names that a third takes for one. It is a
 * compact table of our own, not the whole of Unicode's confusables: the contract lets a name use letters of one of the
 * three alphabets only, so what is left are names that look alike as a whole. Pure.
 */
const CYRILLIC_AS_LATIN = 'аaвbеeкkмmнhоoрpсcтtуyхxѕsіiјjԛqԝwһhӏlгrпnԁdёëїï'
/** As the capitals look, which are the same glyphs: Ν as N, Η as H, Υ as Y. */
const GREEK_AS_LATIN = 'αaβbεeζzηhιiκkμmνnοoρpτtυyχxςcσc'
const LATIN_AS_ONE = '1liloo0oıl'

const table = new Map<string, string>()
for (const pairs of [LATIN_AS_ONE, CYRILLIC_AS_LATIN, GREEK_AS_LATIN]) {
  const letters = Array.from(pairs)
  for (let i = 0; i + 1 < letters.length; i += 2) table.set(letters[i]!, letters[i + 1]!)
}

/** Two usernames with the same key are the same name: they differ in case, width, or letters that look the same. */
export function usernameKey(username: string): string {
  const folded = username
    .normalize('NFKC')
    .trim()
    .toLowerCase()
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\u0307]/gu, '')
  const latin = Array.from(folded, (letter) => table.get(letter) ?? letter).join('')
  // The tables lead to i, which in turn looks like l.
  return latin.replaceAll('i', 'l').replaceAll('rn', 'm').replaceAll('vv', 'w')
}
