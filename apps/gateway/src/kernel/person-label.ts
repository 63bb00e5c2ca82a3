/** The labels that sources use for a person, or for the visible part of one. */
const PERSON_LABELS = new Set(['person', 'human', 'pedestrian', 'face'])

/** Also for a person with a name: `person: Ann`, `person-verified`. */
export function isPersonLabel(label: string): boolean {
  const [kind = ''] = label
    .toLowerCase()
    .replace(/-verified$/, '')
    .split(':', 1)
  return PERSON_LABELS.has(kind.trim())
}
