import type { HomeAssistantState } from '@hedgerow/contract'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { useHomeAssistant } from './queries.ts'

/** The connection to the broker; empty below the role manager. */
export function HomeAssistantStatus() {
  const { data } = useHomeAssistant(mayManageFleet(useUser().role))
  if (data === undefined) return null
  const { shape, word, reason } = inWords(data)
  return (
    <p>
      <StatusMark shape={shape} word={word} reason={reason} />
      {data.since !== null && (
        <>
          {' '}
          <RelativeTime at={data.since} />
        </>
      )}
    </p>
  )
}

function inWords({ state, broker, problem, devices }: HomeAssistantState) {
  const gateways = `${devices} ${devices === 1 ? 'gateway' : 'gateways'}`
  if (state === 'off')
    return {
      shape: 'neutral',
      word: 'Not set up',
      reason: 'No broker is set up: Alert Rules, Channels, MQTT',
    } as const
  if (state === 'connecting') return { shape: 'ring', word: 'Connecting', reason: `to ${broker}` } as const
  if (state === 'away') return { shape: 'diamond', word: 'Not connected', reason: problem ?? '' } as const
  return problem === null
    ? ({ shape: 'dot', word: 'Connected', reason: `${gateways} at ${broker}` } as const)
    : ({ shape: 'diamond', word: 'Connected', reason: problem } as const)
}
