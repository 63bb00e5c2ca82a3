import { isPersonLabel } from '../../kernel/person-label.ts'
import type { CameraNames } from '../source.ts'
import { createFrigateClient } from './client.ts'
import { FrigateError } from './failure.ts'
import { config, readMessage, type Config } from './messages.ts'
import type { FrigateSettings } from './schema.ts'

/** What each of Frigate's cameras can report. */
export function namesOf({ cameras, model }: Config): ReadonlyMap<string, CameraNames> {
  const attributes = model?.attributes_map ?? {}
  const withParts = (label: string) => [label, ...(Object.hasOwn(attributes, label) ? attributes[label]! : [])]
  return new Map(
    Object.entries(cameras).map(([name, { zones, objects, audio }]) => {
      const tracked = objects?.track ?? undefined
      return [
        name,
        {
          ...(zones && { zones: Object.keys(zones) }),
          ...(tracked && {
            labels: [...tracked.flatMap(withParts), ...(audio?.listen ?? [])],
            seesPersons: tracked.some(isPersonLabel),
          }),
        },
      ]
    }),
  )
}

/** The same, asked of a Frigate; undefined when it does not answer, or not readably. */
export async function fetchFrigateNames(
  settings: FrigateSettings,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, CameraNames> | undefined> {
  try {
    const read = readMessage(config, await createFrigateClient(settings, Date.now).read('/api/config', { signal }))
    return read.problem === undefined ? namesOf(read.value) : undefined
  } catch (error) {
    if (error instanceof FrigateError) return undefined
    throw error
  }
}
