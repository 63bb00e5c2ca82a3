import { ANIMAL, isAnimalLabel } from './animal-label.ts'
import { isSameName, nameKey } from './same-name.ts'

/** Whether somebody who names `wanted` means `label`: the same name, or `animal` for any animal. */
export function meansLabel(wanted: string, label: string): boolean {
  return isSameName(wanted, label) || (nameKey(wanted) === ANIMAL && isAnimalLabel(label))
}

/** What is set for a label: its own value, else that of `animal` for an animal. */
export function ofLabel<T>(values: Readonly<Record<string, T>> | undefined, label: string): T | undefined {
  if (!values) return undefined
  const named = Object.entries(values)
  const own = named.find(([name]) => isSameName(name, label)) ?? named.find(([name]) => meansLabel(name, label))
  return own?.[1]
}
