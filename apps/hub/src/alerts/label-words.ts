import type { Language } from '@hedgerow/contract'

/** The labels that gateways know by name; all others are a model's own words, and stay as they are. */
const GERMAN: ReadonlyMap<string, string> = new Map([
  ['animal', 'Tier'],
  ['badger', 'Dachs'],
  ['bear', 'Bär'],
  ['bicycle', 'Fahrrad'],
  ['bird', 'Vogel'],
  ['boar', 'Wildschwein'],
  ['boat', 'Boot'],
  ['bus', 'Bus'],
  ['car', 'Auto'],
  ['cat', 'Katze'],
  ['cow', 'Rind'],
  ['deer', 'Reh'],
  ['dog', 'Hund'],
  ['elephant', 'Elefant'],
  ['fire', 'Feuer'],
  ['fox', 'Fuchs'],
  ['giraffe', 'Giraffe'],
  ['hare', 'Hase'],
  ['horse', 'Pferd'],
  ['motion', 'Bewegung'],
  ['motorcycle', 'Motorrad'],
  ['person', 'Person'],
  ['raccoon', 'Waschbär'],
  ['sheep', 'Schaf'],
  ['smoke', 'Rauch'],
  ['train', 'Zug'],
  ['truck', 'Lkw'],
  ['vehicle', 'Fahrzeug'],
  ['wolf', 'Wolf'],
  ['zebra', 'Zebra'],
])

export function labelIn(language: Language, label: string): string {
  return language === 'de' ? (GERMAN.get(label.toLowerCase()) ?? label) : label
}
