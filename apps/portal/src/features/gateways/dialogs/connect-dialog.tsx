import { hasRole, type Gateway } from '@hedgerow/contract'
import { Button, Loader } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import { readGateway, validateAccess } from 'virtual:contract-calls'
import { accessFailed, blockedUdp, NOT_AUTHORIZED, offlineGateway } from '#api/access-messages.ts'
import { api, messageOf } from '#api/client.ts'
import { refetchGateways } from '#api/gateways.ts'
import { useHubSettings } from '#api/hub-settings.ts'
import { useUser } from '#api/session.tsx'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { focusOnce } from '@hedgerow/ui/focus-once.ts'
import { CheckIcon } from '@hedgerow/ui/icons.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { findWayToGateway, type ConnectStep } from './connect.ts'
import styles from '../page.module.css'

const STEPS: readonly (readonly [ConnectStep, string])[] = [
  ['access', 'Checking your access'],
  ['direct', 'Looking for the gateway on this network'],
  ['hub', 'Opening it through the hub'],
]

type ConnectDialogProps = DialogLife & { gateway: Gateway }

/** The gateway's own interface, or one of its applications. */
type Place = { application: string | undefined }

const OWN_INTERFACE: Place = { application: undefined }

/**
 * Asks what to open if the gateway offers applications, and runs the connect flow: it ends on the page, or here with
 * the reason for the failure.
 */
export function ConnectDialog({ gateway, opened, onClose, onGone }: ConnectDialogProps) {
  const { role } = useUser()
  const applications = gateway.applications.filter(({ leastRole = 'user' }) => hasRole(role, leastRole))
  const [place, setPlace] = useState<Place | null>(applications.length === 0 ? OWN_INTERFACE : null)
  const [problem, setProblem] = useState<string | null>(null)
  const settings = useHubSettings()
  const queries = useQueryClient()
  const fail = useCallback(
    (reason: string) => {
      setProblem(reason)
      // The gateway may have been deleted in the meantime; then its row is stale.
      void refetchGateways(queries)
    },
    [queries],
  )
  return (
    <Dialog title={`Connect to ${gateway.name}`} size="sm" opened={opened} onClose={onClose} onGone={onGone}>
      {place === null ? (
        <Choice applications={applications} onChoose={setPlace} />
      ) : problem === null ? (
        <ConnectSteps
          gateway={gateway}
          application={place.application}
          running={opened && !settings.isPending}
          directHealthCheck={settings.data?.directHealthCheck ?? true}
          onProblem={fail}
        />
      ) : (
        <Notice tone="danger">{problem}</Notice>
      )}
      <DialogActions>
        <Button variant="default" onClick={onClose}>
          {problem === null ? 'Cancel' : 'Close'}
        </Button>
        {problem !== null && <Button onClick={() => setProblem(null)}>Try again</Button>}
      </DialogActions>
    </Dialog>
  )
}

function Choice({ applications, onChoose }: Pick<Gateway, 'applications'> & { onChoose: (place: Place) => void }) {
  return (
    <>
      <p>What do you want to open?</p>
      <div className={styles.kinds}>
        <button ref={focusOnce} type="button" data-autofocus onClick={() => onChoose(OWN_INTERFACE)}>
          <strong>The gateway’s own interface</strong>
          <span>Its cameras, detections, deterrents, rules and configuration.</span>
        </button>
        {applications.map(({ name, title }) => (
          <button key={name} type="button" onClick={() => onChoose({ application: name })}>
            <strong>{title}</strong>
            <span>An application of this gateway, through the hub.</span>
          </button>
        ))}
      </div>
    </>
  )
}

type ConnectStepsProps = {
  gateway: Gateway
  application: string | undefined
  running: boolean
  directHealthCheck: boolean
  onProblem: (problem: string) => void
}

/** One run of the flow, while this component is mounted and the dialog is open. */
function ConnectSteps({ gateway, application, running, directHealthCheck, onProblem }: ConnectStepsProps) {
  const navigate = useNavigate()
  const [step, setStep] = useState<ConnectStep>('access')

  useEffect(() => {
    if (!running) return undefined
    const controller = new AbortController()
    const { signal } = controller
    const connect = async () => {
      try {
        const route = await findWayToGateway(gateway, {
          validateAccess: (deviceToken, abort) => api(validateAccess, { body: { deviceToken }, signal: abort }),
          readGateway: (abort) => api(readGateway, { params: { id: gateway.id }, signal: abort }),
          fetch: (input, init) => fetch(input, init),
          pageProtocol: location.protocol,
          directHealthCheck,
          application,
          onStep: setStep,
          signal,
        })
        if (route.kind === 'direct') location.assign(route.url)
        else if (route.kind === 'hub') await navigate(route.path)
        else if (route.kind === 'blocked-udp') onProblem(blockedUdp(route.port))
        else onProblem(route.kind === 'offline' ? offlineGateway(route.reason) : NOT_AUTHORIZED)
      } catch (error) {
        if (!signal.aborted) onProblem(accessFailed(messageOf(error)))
      }
    }
    void connect()
    return () => controller.abort()
  }, [gateway, application, navigate, running, directHealthCheck, onProblem])

  const steps = application === undefined ? STEPS : STEPS.filter(([name]) => name !== 'direct')
  const current = steps.findIndex(([name]) => name === step)
  return (
    <ol className={styles.steps} aria-live="polite">
      {steps.map(([name, words], index) => (
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
  )
}
