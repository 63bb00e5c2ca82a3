/**
 * The form in which usernames are compared, so that nobody can take a name that looks like another's. It is a compact
 * table of our own, not all of Unicode's confusables: the contract allows letters of only one of the three alphabets in
 * a name, so only whole names can look alike. Pure.
 */
const CYRILLIC_AS_LATIN = 'аaвbеeкkмmнhоoрpсcтtуyхxѕsіiјjԛqԝwһhӏlгrпnԁdёëїï'
/** Letters are compared as capitals, because these have the same glyphs: Ν as N, Η as H, Υ as Y. */
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
  // The tables map to i, which looks like l.
  return latin.replaceAll('i', 'l').replaceAll('rn', 'm').replaceAll('vv', 'w')
}
