import { meansLabel } from '@hedgerow/contract'
import { isSameName } from './same-name.ts'

/** What is set for a label: its own value, else that of `animal` for an animal. */
export function ofLabel<T>(values: Readonly<Record<string, T>> | undefined, label: string): T | undefined {
  const named = Object.entries(values ?? {})
  const own = named.find(([name]) => isSameName(name, label)) ?? named.find(([name]) => meansLabel(name, label))
  return own?.[1]
}
