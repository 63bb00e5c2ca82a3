/**
 * The texts of a gateway that people write, besides its name and its tags. Each is a field of the API, a column of the
 * same name in the database and in the CSV file, an input, and a line of the gateway's page. Needs no zod.
 */
type TextField = {
  label: string
  /** Of its input: a field of one line takes no line breaks. */
  lines: number
  maxLength: number
  /** What the gateway's page shows without a text; no line when left out. */
  ifEmpty?: string
}

const fields = {
  location: { label: 'Location', lines: 1, maxLength: 200, ifEmpty: 'Unknown' },
  description: { label: 'Description', lines: 3, maxLength: 1_000 },
} satisfies Record<string, TextField>

export type GatewayText = keyof typeof fields
export const gatewayTexts: Readonly<Record<GatewayText, TextField>> = fields
export const GATEWAY_TEXTS = Object.keys(fields) as readonly GatewayText[]

/** A value for each of the texts. A loop, because the list of a large fleet calls it for each gateway. */
export function ofGatewayTexts<V>(make: (name: GatewayText) => V): Record<GatewayText, V> {
  const made: Partial<Record<GatewayText, V>> = {}
  for (const name of GATEWAY_TEXTS) made[name] = make(name)
  return made as Record<GatewayText, V>
}
