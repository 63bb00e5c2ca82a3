/**
 * The labels that sources and models use for a person, or for the visible part of one: those of COCO, Open Images,
 * Objects365, VisDrone, Frigate's attributes, and their plurals.
 */
const PERSON_LABELS = new Set(
  `person persons people human humans man men woman women boy boys girl girls child children kid kids baby toddler
   pedestrian pedestrians cyclist rider worker intruder face human-face head human-head body human-body`.split(/\s+/),
)

/** Also for a person with a name: `person: Ann`, `person-verified`. */
export function isPersonLabel(label: string): boolean {
  const [kind = ''] = label
    .toLowerCase()
    .replace(/-verified$/, '')
    .split(':', 1)
  return PERSON_LABELS.has(kind.trim().replaceAll(/[\s_]+/g, '-'))
}
