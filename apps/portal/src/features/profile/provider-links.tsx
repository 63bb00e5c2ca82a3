import type { ProviderLink } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useProviderLinks, useUnlinkProvider } from './queries.ts'
import styles from './alerts.module.css'

/** The person's accounts at sign-in providers; nothing for those who have none. */
export function ProviderLinks() {
  const { data: links = [] } = useProviderLinks()
  if (links.length === 0) return null
  return (
    <Panel id="providers" title="Sign-in providers">
      <div className={styles.browsers}>
        <ul aria-label="Sign-in providers">
          {links.map((link) => (
            <Linked key={link.id} link={link} />
          ))}
        </ul>
      </div>
    </Panel>
  )
}

function Linked({ link: { id, provider, lastUsedAt } }: { link: ProviderLink }) {
  const unlink = useUnlinkProvider()
  return (
    <li>
      <span>
        <strong>{provider}</strong>
        <span className={styles.state}>
          {unlink.isError ? (
            messageOf(unlink.error)
          ) : (
            <>
              Last used <RelativeTime at={lastUsedAt} />
            </>
          )}
        </span>
      </span>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Remove ${provider}`}
        loading={unlink.isPending}
        onClick={() => unlink.mutate(id, { onSuccess: () => void toast('Removed. It no longer signs you in.') })}
      >
        Remove
      </Button>
    </li>
  )
}
