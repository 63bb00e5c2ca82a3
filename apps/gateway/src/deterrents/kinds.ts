/** The drivers as forms: each key of a driver that is a single value is a field. */
import type { DeterrentField, DeterrentKind } from '@hedgerow/contract/deterrent-setup'
import { z } from 'zod'
import { driverNames, loadDriver } from './drivers.ts'
import type { DriverType } from './drivers/driver.ts'

type Property = {
  type?: string
  enum?: unknown[]
  description?: string
  default?: unknown
  minimum?: number
  maximum?: number
  writeOnly?: boolean
}

const TYPES: Readonly<Record<string, DeterrentField['type']>> = {
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'switch',
}

export async function readKinds(): Promise<DeterrentKind[]> {
  return (await Promise.all(driverNames.map(loadDriver))).map(kindOf)
}

function kindOf({ name, summary, settings, anyOutput = {} }: DriverType): DeterrentKind {
  const { properties = {}, required = [] } = z.toJSONSchema(z.object(settings), { io: 'input' })
  const entries = Object.entries(properties as Record<string, Property>)
  const fields = entries.flatMap(([key, property]) => fieldOf(key, property, required.includes(key)))
  const others = Object.keys(properties).filter((key) => !fields.some((field) => field.key === key))
  const needsText = others.some((key) => required.includes(key))
  return { driver: name, summary, fields, others, needsText, outputKeys: Object.keys(anyOutput) }
}

function fieldOf(key: string, property: Property, isRequired: boolean): DeterrentField[] {
  const { enum: options, type, description = '', minimum, maximum, writeOnly = false } = property
  const isChoice = options?.every((option) => typeof option === 'string') ?? false
  const own = isChoice ? 'choice' : TYPES[type ?? '']
  if (own === undefined || (options && !isChoice)) return []
  const usual = property.default
  return [
    {
      key,
      type: own,
      description,
      options: isChoice ? (options as string[]) : [],
      minimum: minimum ?? null,
      maximum: maximum ?? null,
      usual: typeof usual === 'string' || typeof usual === 'number' || typeof usual === 'boolean' ? usual : null,
      isRequired,
      isSecret: writeOnly,
    },
  ]
}
