import type { PushSubscription } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { usePush, useSubscribe, useTestPush, useUnsubscribe } from './alert-queries.ts'
import { browserName } from './browser-name.ts'
import { missingForPush } from './push.ts'
import styles from './alerts.module.css'

/** The person's browsers with push messages, and this one. */
export function Browsers() {
  const push = usePush()
  const subscribe = useSubscribe()
  const missing = missingForPush()
  if (push.data === undefined) return <PanelWaiting query={push} rows={2} label="Loading your browsers" />
  const { publicKey, subscriptions } = push.data
  return (
    <div className={styles.browsers}>
      {subscribe.isError && <Notice tone="danger">{messageOf(subscribe.error)}</Notice>}
      {subscriptions.length > 0 && (
        <ul aria-label="Browsers with push messages">
          {subscriptions.map((subscription) => (
            <Browser key={subscription.id} subscription={subscription} />
          ))}
        </ul>
      )}
      <div>
        <ReasonedButton
          variant="default"
          reason={missing}
          loading={subscribe.isPending}
          onClick={() => subscribe.mutate(publicKey)}
        >
          Show alerts in this browser
        </ReasonedButton>
      </div>
    </div>
  )
}

function Browser({
  subscription: { id, userAgent, createdAt, lastAt, lastError },
}: {
  subscription: PushSubscription
}) {
  const test = useTestPush()
  const remove = useUnsubscribe()
  const name = browserName(userAgent)
  const problem = test.isError ? messageOf(test.error) : remove.isError ? messageOf(remove.error) : lastError
  return (
    <li>
      <span>
        <strong>{name}</strong>
        <span className={styles.state}>
          {problem ?? test.data?.message ?? (
            <>
              {lastAt === null ? 'Added ' : 'Last message '}
              <RelativeTime at={lastAt ?? createdAt} />
            </>
          )}
        </span>
      </span>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Send test to ${name}`}
        loading={test.isPending}
        onClick={() => test.mutate(id)}
      >
        Send test
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Remove ${name}`}
        loading={remove.isPending}
        onClick={() => remove.mutate(id)}
      >
        Remove
      </Button>
    </li>
  )
}
