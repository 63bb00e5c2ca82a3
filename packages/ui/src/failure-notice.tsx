import { Notice } from './notice.tsx'

/** A failure in the words of who refused, or a default with the reason below it. */
export function FailureNotice({ message, reason }: { message: string; reason?: string }) {
  return (
    <Notice tone="danger">
      <p>{message}</p>
      {reason !== undefined && <p>{reason}</p>}
    </Notice>
  )
}
