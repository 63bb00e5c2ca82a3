import type { GatewayLearning } from '@hedgerow/contract'
import { ConfigError } from '../config.ts'
import { localCalls } from '@hedgerow/contract/local-api'
import { callAgent } from './call-agent.ts'
import type { Outcome } from './command-line.ts'

export function learningStatus(dataDir: string): Promise<Outcome> {
  return callAgent(dataDir, localCalls.getLearning, (report) => ({ text: inLines(report), isDone: true }))
}

export function learnNow(dataDir: string): Promise<Outcome> {
  return callAgent(dataDir, localCalls.learnNow, () => ({ text: 'It learns now.', isDone: true }))
}

export function undoLearning(dataDir: string, [camera, label]: string[]): Promise<Outcome> {
  if (camera === undefined || label === undefined) throw new ConfigError('Name a camera and a label.')
  return callAgent(
    dataDir,
    localCalls.undoLearning,
    ({ undone }) =>
      undone
        ? { text: `Undone. Nothing takes over for ${label} on ${camera} for a week.`, isDone: true }
        : { text: `No version is active for ${label} on ${camera}.`, isDone: false },
    { body: { camera, label } },
  )
}

function inLines({ state, lastRunAt, message, cameras, names }: GatewayLearning): string {
  const head = state === 'waiting' ? `Last learned: ${lastRunAt ?? 'never'}` : message
  const lines = cameras.flatMap(({ camera, labels, masks }) => [
    '',
    camera,
    ...labels.flatMap(({ label, right, wrong, message: night, versions, drift }) => [
      `  ${label}: ${right} right, ${wrong} wrong. ${night}`,
      ...versions.map(
        ({ number, state: now, at, heldBack, missed }) =>
          `    version ${number}, ${now}, since ${at}: ${heldBack} held back, ${missed} missed`,
      ),
      ...(drift
        ? [
            `    of the newest ${drift.reviews} it expected ${percent(drift.expected)} right; ` +
              `${percent(drift.observed)} were`,
          ]
        : []),
    ]),
    ...masks.flatMap(({ lines: yaml, times, label }) => [
      `  ${label} came ${times} times at one place. To mask it, in gateway.yaml:`,
      ...yaml.split('\n').map((line) => `    ${line}`),
    ]),
  ])
  const named = (names?.list ?? []).map((each) => `  ${each.name}: ${each.corrections} corrections. ${each.message}`)
  return [head, ...lines, ...(named.length > 0 ? ['', 'Names of animals', ...named] : [])].join('\n')
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}
