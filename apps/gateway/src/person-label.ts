/** What sources call a person, or the part of one that they see. */
const PERSON_LABELS = new Set(['person', 'human', 'pedestrian', 'face'])

export function isPersonLabel(label: string): boolean {
  return PERSON_LABELS.has(label.toLowerCase())
}
