/** `animal` in rules, filters and settings means every kind of animal that sources and models name. */
import { nameKey } from './same-name.ts'

export const ANIMAL = 'animal'

const KINDS = new Set(
  `animal badger bat bear beaver bird boar bobcat buffalo bull calf camel cat cattle chicken chipmunk coati cougar cow
   coyote crow deer dog donkey duck eagle elephant elk fox frog gazelle giraffe goat goose groundhog hare hawk hedgehog
   heron hen hog horse hyena jackal javelina kangaroo kitten lamb leopard lion livestock lizard llama lynx marten mink
   mole monkey moose mouse mule ocelot opossum otter owl ox peacock pig pigeon pony porcupine possum puma puppy rabbit
   raccoon rat raven rhino rodent rooster sheep skunk snake squirrel stoat swan tiger tortoise turkey turtle vole wallaby
   weasel wolf wolverine wombat woodchuck zebra`.split(/\s+/),
)

/** Also for a name of several words, such as `red deer` or `wild_boar`, whose last one says what it is. */
export function isAnimalLabel(label: string): boolean {
  const words = nameKey(label)
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '')
  const last = words.at(-1) ?? ''
  return KINDS.has(last) || KINDS.has(last.replace(/s$/, ''))
}
