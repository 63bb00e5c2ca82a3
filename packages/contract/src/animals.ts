/** `animal` in rules, filters and settings means every kind of animal that sources and models name. */

export const ANIMAL = 'animal'

/** In the singular, each in one word. */
export const ANIMAL_KINDS: ReadonlySet<string> = new Set(
  `animal badger bat bear beaver bird boar bobcat buffalo bull calf camel cat cattle chicken chipmunk coati
   cougar cow coyote crow deer dog donkey duck eagle elephant elk fox frog gazelle giraffe goat goose groundhog
   hare hawk hedgehog heron hen hog horse hyena jackal javelina kangaroo kitten lamb leopard lion livestock
   lizard llama lynx marten mink mole monkey moose mouse mule ocelot opossum otter owl ox peacock pig pigeon pony
   porcupine possum puma puppy rabbit raccoon rat raven rhino rodent rooster sheep skunk snake squirrel stoat
   swan tiger tortoise turkey turtle vole wallaby weasel wolf wolverine wombat woodchuck zebra`.split(/\s+/),
)

/** Also for a name of several words, such as `red deer` or `wild_boar`, whose last one says what it is. */
export function isAnimalLabel(label: string): boolean {
  const words = keyOf(label)
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '')
  const last = words.at(-1) ?? ''
  return ANIMAL_KINDS.has(last) || ANIMAL_KINDS.has(last.replace(/s$/, ''))
}

/** Whether somebody who names `wanted` means `label`: the same name in any case, or `animal` for any animal. */
export function meansLabel(wanted: string, label: string): boolean {
  return keyOf(wanted) === keyOf(label) || (keyOf(wanted) === ANIMAL && isAnimalLabel(label))
}

const keyOf = (name: string) => name.normalize('NFC').toLowerCase()
