/** The labels that sources use for a person, or for the visible part of one. */
const PERSON_LABELS = new Set(['person', 'human', 'pedestrian', 'face'])

export function isPersonLabel(label: string): boolean {
  return PERSON_LABELS.has(label.toLowerCase())
}
