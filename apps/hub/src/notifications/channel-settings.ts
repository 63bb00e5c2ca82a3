/** The settings of a channel: the operator's variables, and what admins saved in the portal. Variables win. */
import type { Field, Fields } from './channel.ts'

/** By the field's name. */
export type Values = Readonly<Record<string, string | undefined>>

/** Everything that needs these to be set up. */
type Definition = { fields: Fields }

const fieldsOf = ({ fields }: Definition): [string, Field][] => Object.entries(fields)

/** The field whose value sets the channel up; none for a channel that needs nothing. */
export const firstField = (type: Definition): [string, Field] | undefined => fieldsOf(type)[0]

/** The fields that have no value and need one. */
export const missingFields = (type: Definition, values: Values): [string, Field][] =>
  fieldsOf(type).filter(
    ([name, field]) => values[name] === undefined && field.default === undefined && field.isOptional === undefined,
  )

/** What `open` gets; undefined when the channel is not set up. */
export function settingsOf(type: Definition, values: Values): Readonly<Record<string, string>> | undefined {
  if (missingFields(type, values).length > 0) return undefined
  const given = fieldsOf(type).map(([name, field]) => [name, values[name] ?? field.default] as const)
  return Object.fromEntries(given.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** The values of the variables that are set, by the field's name. Throws an `Error` that names a missing variable. */
export function valuesOfVariables(type: Definition, found: Readonly<Record<string, unknown>>): Values {
  const set = fieldsOf(type).flatMap(([name, { variable }]) =>
    found[variable] === undefined ? [] : [[name, String(found[variable])] as const],
  )
  const values: Values = Object.fromEntries(set)
  const first = firstField(type)
  const [missing] = first && values[first[0]] !== undefined ? missingFields(type, values) : []
  if (first && missing) throw new Error(`${missing[1].variable} is not set, though ${first[1].variable} is`)
  return values
}
