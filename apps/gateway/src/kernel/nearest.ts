/** Sentences about names that nothing has, with the name that was probably meant. */

const SHOWN_MAX = 10
/** More names are not compared: a file decides how many there are. */
const COMPARED_MAX = 500
const LENGTH_MAX = 100

/**
 * `shown`: the name as it is written in the file. It differs from `name` for a secret, which is not compared. `also`:
 * names that may be meant and are not there either.
 */
export function noSuch(
  what: string,
  { name, shown }: { name: string; shown: string },
  names: readonly string[],
  also: readonly string[] = [],
): string {
  const near = theNearest({ name, shown }, [...names, ...also])
  if (near !== '') return `There is no ${what} ${shown}${near}.`
  return (
    `There is no ${what} ` +
    `${shown}${names.length === 0 ? '' : `; there is ${names.slice(0, SHOWN_MAX).join(', ')}`}.`
  )
}

/** The end of a sentence about such a name; empty when no name is near. */
export function theNearest({ name, shown }: { name: string; shown: string }, names: readonly string[]): string {
  const near = shown === name ? nearest(name, names) : undefined
  return near === undefined ? '' : `; the nearest is ${near}`
}

/** The known name that differs in case, in signs between words, or in few letters; undefined when none is close. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const plain = plainName(name)
  let best: { name: string; steps: number } | undefined
  for (const other of names.slice(0, COMPARED_MAX)) {
    if (other === name) continue
    const steps = stepsBetween(plain, plainName(other))
    if (steps < (best?.steps ?? Infinity)) best = { name: other, steps }
  }
  // Two letters of a word such as `gate` may be wrong, and only one of `fox`.
  const most = Math.max(plain.length < 4 ? 1 : 2, Math.floor(plain.length / 3))
  return best && best.steps <= most ? best.name : undefined
}

function plainName(name: string): string {
  return name
    .slice(0, LENGTH_MAX)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}\s_.-]/gu, '')
}

/** How many letters must be added, removed, replaced or swapped with their neighbour (optimal string alignment). */
function stepsBetween(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, before[j - 2]! + 1)
    }
    before = last
    last = row
  }
  return last[b.length]!
}
