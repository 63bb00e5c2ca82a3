import { nameKey } from './same-name.ts'

/**
 * The labels that sources and models use for a person, or for the visible part of one: those of COCO, Open Images,
 * Objects365, VisDrone, Frigate's attributes, and their plurals.
 */
const PERSON_LABELS = new Set(
  `baby kid kids rider worker face human-face head human-head body human-body guy lady hiker walker jogger runner
   farmer trespasser burglar`.split(/\s+/),
)

/**
 * A label with one of these words is about a person too, such as `delivery_person`. Programs write their own labels,
 * also in other languages.
 */
const PERSON_WORDS = new Set(
  `person persons people human humans man men woman women boy boys girl girls child children toddler toddlers
   pedestrian pedestrians cyclist cyclists intruder
   mensch menschen personen fußgänger eindringling kinder mann männer frau frauen
   personne personnes humain homme femme enfant piéton persona personas humano hombre mujer niño peatón
   pessoa pessoas homem mulher criança persone uomo donna bambino pedone persoon mensen personer människa menneske
   osoba osoby člověk człowiek человек люди`.split(/\s+/),
)

/** Also for a person with a name or a number: `person: Ann`, `Person 1`, `person-verified`. */
export function isPersonLabel(label: string): boolean {
  const [kind = ''] = label.split(':', 1)
  return wordsOf(label).some((word) => PERSON_WORDS.has(word)) || PERSON_LABELS.has(wordsOf(kind).join('-'))
}

function wordsOf(text: string): string[] {
  return nameKey(text)
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '')
}
