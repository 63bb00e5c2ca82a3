/** The order of names in lists: camera 2 before camera 10, in any case. */
export const byNaturalOrder = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' }).compare

/** The order of versions: 1.9 before 1.10, and 1.0.0-rc.1 before 1.0.0; an unknown one, which is empty, is first. */
export function byVersion(a: string, b: string): number {
  const [[core, early], [otherCore, otherEarly]] = [partsOf(a), partsOf(b)]
  return (
    byNaturalOrder(core, otherCore) ||
    Number(early === '') - Number(otherEarly === '') ||
    byNaturalOrder(early, otherEarly)
  )
}

/** Without the build that may follow a plus sign. */
function partsOf(version: string): readonly [core: string, early: string] {
  const [known = ''] = version.split('+')
  const dash = known.indexOf('-')
  return dash < 0 ? [known, ''] : [known.slice(0, dash), known.slice(dash + 1)]
}
