/** The order of names in lists: camera 2 before camera 10, in any case. */
export const byNaturalOrder = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' }).compare
