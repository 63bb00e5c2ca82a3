/** The states of a panel without data: loading, empty, failed, or not allowed. */
import { Button, Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { AlertIcon, LockIcon } from './icons.tsx'
import styles from './panel.module.css'

export function PanelSkeleton({ rows, label }: { rows: number; label: string }) {
  return (
    <output className={styles.skeleton} aria-label={label}>
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={20} width={`${94 - ((index * 17) % 34)}%`} radius={4} />
      ))}
    </output>
  )
}

export function PanelEmpty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.state}>
      <strong>{title}</strong>
      {children !== undefined && <div>{children}</div>}
    </div>
  )
}

export function PanelError({
  message,
  onRetry,
  retrying,
}: {
  message: string
  onRetry: () => void
  retrying: boolean
}) {
  return (
    <div className={styles.state} role="alert">
      <AlertIcon />
      <p>{message}</p>
      <Button className={styles.retry} variant="default" size="sm" onClick={onRetry} loading={retrying}>
        Try again
      </Button>
    </div>
  )
}

/** Shown until a query has data: that it loads, or why it failed, with a button to try again. */
export function PanelWaiting({
  query: { error, isFetching, refetch },
  rows,
  label,
  describe = (message) => message,
}: {
  query: { error: Error | null; isFetching: boolean; refetch: () => unknown }
  rows: number
  label: string
  describe?: (message: string) => string
}) {
  return error === null ? (
    <PanelSkeleton rows={rows} label={label} />
  ) : (
    <PanelError message={describe(error.message)} retrying={isFetching} onRetry={() => void refetch()} />
  )
}

export function PanelForbidden({ children }: { children: ReactNode }) {
  return (
    <div className={styles.state}>
      <LockIcon />
      <strong>Your role does not allow this</strong>
      <p>{children}</p>
    </div>
  )
}
