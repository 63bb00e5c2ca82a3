/**
 * Remembers the last result of `make` for each `key`: for the fields of a request or the head of an answer, which keep
 * their object while a connection repeats them. Nothing is remembered without a key: an entry for every request would
 * cost more than it saves.
 */
export function rememberedFor<Of, Made>(
  make: (of: Of) => Made,
  isSame: (one: Of, other: Of) => boolean,
): (key: object | undefined, of: Of) => Made {
  const remembered = new WeakMap<object, { of: Of; made: Made }>()
  return (key, of) => {
    const known = key && remembered.get(key)
    if (known && isSame(known.of, of)) return known.made
    const made = make(of)
    if (key) remembered.set(key, { of, made })
    return made
  }
}
