import { GATEWAY_BODY_LIMIT, editHubSettings, THUMBNAIL_MAX_BYTES } from '@hedgerow/contract'
import { freeTcpPort } from '../test/harness/free-ports.ts'
import { startHub } from '../test/harness/hub.ts'
import { joinPlayedGateway } from '../test/harness/played-gateway.ts'
import { distributionOf, reportGoals, type Measured } from './report.ts'

const BATCHES = 40
const GOAL_MS = 20
/** prom-client's default: the interval at which the event loop's lag is measured. */
const RESOLUTION_MS = 10

/**
 * The longest time for which all others wait while one gateway sends the largest batches that the hub accepts, and
 * bodies of that size that it refuses. The hub measures the lag of its event loop itself, once a batch.
 */
export async function benchBatches(): Promise<void> {
  const metricsPort = await freeTcpPort()
  const hub = await startHub({ env: { HUB_METRICS_PORT: String(metricsPort) } })
  const gateway = await joinPlayedGateway(hub, (stream) => stream.destroy())
  const rows: Record<string, Measured> = {}
  try {
    await hub.api(editHubSettings, { body: { detectionsPerHour: 1_000_000, detectionMegabytesPerHour: 100_000 } })
    for (const [name, makeBody] of Object.entries(BODIES)) {
      const lags: number[] = []
      for (let batch = 0; batch < BATCHES; batch++) {
        const body = makeBody?.(batch)
        await longestLag(metricsPort)
        if (body !== undefined) await gateway.post('/api/v1/gateway/detections', body)
        lags.push(await longestLag(metricsPort))
      }
      rows[name] = { ...distributionOf(lags), of: 'p50', goal: GOAL_MS }
    }
  } finally {
    await gateway.stop()
    await hub.stop()
  }
  reportGoals('batches', rows)
}

/** In ms, since the last call. */
async function longestLag(metricsPort: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const seconds = Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1])
  return Math.max(0, seconds * 1_000 - RESOLUTION_MS)
}

const BODIES: Record<string, ((batch: number) => string) | undefined> = {
  'nothing is sent': undefined,
  '500 detections, small': (batch) => batchOf(batch, 500, {}),
  '500 detections, as large as a call': (batch) => batchOf(batch, 500, { verdicts: verdicts(12) }),
  'pictures, as large as a call': (batch) => batchOf(batch, 23, { thumbnail: picture() }),
  '2 MiB refused: brackets': () => '['.repeat(GATEWAY_BODY_LIMIT - 1),
  '2 MiB refused: empty objects': () => `{"detections":[${'{},'.repeat(GATEWAY_BODY_LIMIT / 3 - 10)}{}]}`,
  '2 MiB refused: numbers': () => `{"detections":[${'1,'.repeat(GATEWAY_BODY_LIMIT / 2 - 10)}1]}`,
  '2 MiB refused: one name': () => `{"${'x'.repeat(GATEWAY_BODY_LIMIT - 100)}":1}`,
  '2 MiB refused: unknown fields in each': (batch) => batchOf(batch, 500, { unknown: 'x'.repeat(3_900) }),
}

function batchOf(batch: number, count: number, extra: object): string {
  const startedAt = new Date().toISOString()
  const detections = Array.from({ length: count }, (_, index) => ({
    id: `${batch}-${index}-${count}-${Object.keys(extra).join()}`,
    camera: 'orchard',
    label: index % 10 === 0 ? 'person' : 'deer',
    severity: index % 10 === 0 ? 'alert' : 'detection',
    score: 0.83,
    startedAt,
    ...extra,
  }))
  return JSON.stringify({ detections })
}

const verdicts = (count: number) =>
  Array.from({ length: count }, () => ({
    stage: 'detector',
    by: 'a model'.padEnd(60, 'x'),
    outcome: 'confirmed',
    score: 0.9,
    reason: 'It looks like one.'.padEnd(150, ' so'),
    ms: 12,
  }))

const picture = () => Buffer.alloc(THUMBNAIL_MAX_BYTES, 'ffd8ffe0', 'hex').toString('base64')
