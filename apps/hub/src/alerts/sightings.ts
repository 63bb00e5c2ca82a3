/** What the incidents of an alert are, where: for its title, its cool-down and the part that a person may see. Pure. */
import type { AlertRuleFields } from '@hedgerow/contract'

type Seen = { gatewayId: string; gatewayName: string; site?: string; camera: string; label: string }
export type Sighting = Readonly<{ gatewayId: string; place: string; label: string; count: number }>
/** By `keyOf` of their lines. */
export type Tally = Map<string, Sighting>

/** Above this number of kinds, the others of a gateway are counted together. */
const KEYS_MAX = 300
/** Then a rule's messages wait for its cool-down, whatever is new in them. */
const MESSAGES_AT_ONCE = 3

/** The site, or the gateway where it has none. */
export function keyOf({ gatewayId, gatewayName, site = '', camera, label }: Seen): string {
  return JSON.stringify([gatewayId, site || gatewayName, camera, label])
}

export function addSighting(tally: Tally, line: Seen): void {
  const own = keyOf(line)
  const key = tally.has(own) || tally.size < KEYS_MAX ? own : keyOf({ ...line, camera: '', label: '' })
  tally.set(key, sightingOf(key, (tally.get(key)?.count ?? 0) + 1))
}

export function tallyIn(json: string | null): Tally {
  const counts = Object.entries(JSON.parse(json ?? '{}') as Record<string, number>)
  return new Map(counts.map(([key, count]) => [key, sightingOf(key, count)]))
}

export function tallyAsJson(tally: Tally): string {
  return JSON.stringify(Object.fromEntries([...tally].map(([key, { count }]) => [key, count])))
}

function sightingOf(key: string, count: number): Sighting {
  const [gatewayId = '', place = '', , label = ''] = JSON.parse(key) as string[]
  return { gatewayId, place, label, count }
}

/** A message that was sent, or is due. `keys` is undefined where nobody stored them: then it holds everything back. */
export type Sent = { dueAt: number; keys: ReadonlySet<string> | undefined }

/**
 * When a message with these keys is due: soon when one of them, a label on a camera, was in no message of the rule's
 * cool-down, so that a person never waits for a deer.
 */
export function dueAtOf(
  { at, keys }: { at: number; keys: readonly string[] },
  sent: readonly Sent[],
  { collectSeconds, coolDownSeconds }: Pick<AlertRuleFields, 'collectSeconds' | 'coolDownSeconds'>,
): number {
  const coolMs = coolDownSeconds * 1_000
  const cooling = sent.filter(({ dueAt }) => dueAt + coolMs > at).toSorted((a, b) => a.dueAt - b.dueAt)
  const endOf = (key: string) =>
    Math.max(0, ...cooling.flatMap(({ dueAt, keys }) => ((keys?.has(key) ?? true) ? [dueAt + coolMs] : [])))
  const first = cooling.length < MESSAGES_AT_ONCE ? 0 : cooling.at(-MESSAGES_AT_ONCE)!.dueAt + coolMs
  return Math.max(at + collectSeconds * 1_000, first, Math.min(...keys.map(endOf)))
}
