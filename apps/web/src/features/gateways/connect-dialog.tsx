import { validateAccess, type Gateway } from '@hedgerow/contract'
import { Button, Loader } from '@mantine/core'
import { useCallback, useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import { api, messageOf } from '#api/client.ts'
import { Dialog, DialogActions } from '#ui/dialog.tsx'
import { CheckIcon } from '#ui/icons.tsx'
import { Notice } from '#ui/notice.tsx'
import { findWayToGateway, type ConnectStep } from './connect.ts'
import type { DialogLife } from './dialogs.tsx'
import { accessFailed, NOT_AUTHORIZED } from './messages.ts'
import styles from './page.module.css'

const STEPS: readonly (readonly [ConnectStep, string])[] = [
  ['access', 'Checking your access'],
  ['direct', 'Looking for the gateway on this network'],
  ['hub', 'Opening it through the hub'],
]

/** Shows the connect flow while it runs; it ends on the gateway's page, or here with the reason why not. */
export function ConnectDialog({ gateway, opened, onClose, onGone }: DialogLife & { gateway: Gateway }) {
  const navigate = useNavigate()
  const [step, setStep] = useState<ConnectStep>('access')
  const [problem, setProblem] = useState<string | null>(null)

  const run = useCallback(
    async (signal: AbortSignal) => {
      setProblem(null)
      try {
        const way = await findWayToGateway(gateway, {
          validateAccess: (deviceToken, abort) => api(validateAccess, { body: { deviceToken }, signal: abort }),
          fetch: (input, init) => fetch(input, init),
          pageProtocol: location.protocol,
          onStep: setStep,
          signal,
        })
        if (way.kind === 'direct') location.assign(way.url)
        else if (way.kind === 'hub') await navigate(way.path)
        else setProblem(NOT_AUTHORIZED)
      } catch (error) {
        if (!signal.aborted) setProblem(accessFailed(messageOf(error)))
      }
    },
    [gateway, navigate],
  )
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    if (opened) void run(controller.signal)
    return () => controller.abort()
  }, [run, opened, attempt])

  const current = STEPS.findIndex(([name]) => name === step)
  return (
    <Dialog title={`Connect to ${gateway.name}`} size="sm" opened={opened} onClose={onClose} onGone={onGone}>
      {problem === null ? (
        <ol className={styles.steps} aria-live="polite">
          {STEPS.map(([name, words], index) => (
            <li
              key={name}
              className={styles.step}
              data-state={index < current ? 'done' : index === current ? 'running' : 'ahead'}
            >
              {index < current ? (
                <CheckIcon />
              ) : index === current ? (
                <Loader size={16} aria-hidden="true" />
              ) : (
                <span className={styles.pip} />
              )}
              <span>{words}</span>
            </li>
          ))}
        </ol>
      ) : (
        <Notice tone="danger">{problem}</Notice>
      )}
      <DialogActions>
        <Button variant="default" onClick={onClose}>
          {problem === null ? 'Cancel' : 'Close'}
        </Button>
        {problem !== null && <Button onClick={() => setAttempt((count) => count + 1)}>Try again</Button>}
      </DialogActions>
    </Dialog>
  )
}
