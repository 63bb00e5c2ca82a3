import type { listNotices, ResponseOf } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link } from 'react-router'
import { acknowledgeAlert, readNotices } from 'virtual:contract-calls'
import { api, messageOf } from '#api/client.ts'
import { acknowledgedInWords, resolvedInWords } from '#parts/acknowledged.ts'
import { Thumbnail } from '#parts/thumbnail.tsx'
import { Dialog, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import styles from './notice-list.module.css'

type Notices = ResponseOf<typeof listNotices>['notices']

/** The person's alerts, newest first. Opening the list marks them as read. */
export default function NoticeList({
  notices,
  unread,
  onGone,
}: {
  notices: Notices
  unread: number
  onGone: () => void
}) {
  const life = useDialogLife(onGone)
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: ['alerts'] })
  const { mutate: read } = useMutation({ mutationFn: () => api(readNotices, {}), onSettled: refresh })
  const acknowledge = useMutation({
    mutationFn: (id: string) => api(acknowledgeAlert, { params: { id } }),
    onSettled: refresh,
  })
  useEffect(() => {
    if (unread > 0) read()
  }, [unread, read])
  return (
    <Dialog {...life} title="Notices">
      {acknowledge.isError && <Notice tone="warning">{messageOf(acknowledge.error)}</Notice>}
      {notices.length === 0 ? (
        <PanelEmpty title="No notices yet">
          Messages of alert rules are listed here. To get messages on this device, see{' '}
          <Link to="/profile#alerts" onClick={life.onClose}>
            your profile
          </Link>
          .
        </PanelEmpty>
      ) : (
        <ul className={styles.list} aria-label="Notices">
          {notices.map((notice) => (
            <li key={notice.id} data-unread={!notice.isRead}>
              {notice.picture !== null && <Thumbnail {...notice.picture} />}
              <Link to={notice.path} onClick={life.onClose}>
                {notice.title}
              </Link>
              <span className={styles.about}>
                <RelativeTime at={notice.at} /> · {notice.ruleName}
                {notice.clearedAt !== null && ` · ${resolvedInWords(notice.clearedAt)}`}
                {notice.acknowledged !== null && ` · ${acknowledgedInWords(notice.acknowledged)}`}
              </span>
              {notice.acknowledged === null && notice.clearedAt === null && notice.kind !== 'test' && (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Acknowledge ${notice.title}`}
                  loading={acknowledge.isPending && acknowledge.variables === notice.id}
                  onClick={() => acknowledge.mutate(notice.id)}
                >
                  Acknowledge
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  )
}
