import { Notice } from './notice.tsx'

/** A failure in the hub's words, or a default sentence with the reason below it. */
export function FailureNotice({ message, reason }: { message: string; reason?: string }) {
  return (
    <Notice tone="danger">
      <p>{message}</p>
      {reason !== undefined && <p>{reason}</p>}
    </Notice>
  )
}
