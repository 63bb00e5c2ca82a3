import { Button } from '@mantine/core'
import type { FoundDeterrent } from '@hedgerow/contract/deterrent-setup'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { messageOf } from '../calls.ts'
import { useFindDeterrents } from '../deterrent-queries.ts'
import own from './find-deterrents.module.css'
import styles from './form.module.css'

type FindDeterrentsProps = {
  given: { password?: string }
  isMissing: boolean
  onUse: (found: FoundDeterrent & { driver: string }) => void
}

/** Switchable devices in the networks of this device. */
export function FindDeterrents({ given, isMissing, onUse }: FindDeterrentsProps) {
  const search = useFindDeterrents()
  return (
    <Panel title="Find in the network">
      <div className={own.search}>
        <p className={styles.quiet}>
          Looks for OpenSprinkler, Shelly and Tasmota for five seconds. Nothing is switched.
        </p>
        <div className={styles.buttons}>
          <Button
            variant="default"
            loading={search.isPending}
            disabled={isMissing}
            onClick={() => search.mutate({ ...given })}
          >
            Search
          </Button>
        </div>
        <output>
          {search.error !== null && <Notice tone="danger">{messageOf(search.error)}</Notice>}
          {search.data?.length === 0 && (
            <Notice tone="plain">Nothing was found. Choose the kind and type its address.</Notice>
          )}
        </output>
      </div>
      {search.data !== undefined && search.data.length > 0 && (
        <ul className={own.found} aria-label="Found devices">
          {search.data.map((found) => {
            const { address, driver, title, note } = found
            return (
              <li key={address}>
                <strong>{title}</strong>
                <p className={styles.quiet}>{note ?? address}</p>
                {driver !== null && (
                  <Button
                    size="compact-sm"
                    aria-label={`Use ${title} at ${address}`}
                    onClick={() => onUse({ ...found, driver })}
                  >
                    Use
                  </Button>
                )}
              </li>
            )
          })}
        </ul>
      )}
    </Panel>
  )
}
