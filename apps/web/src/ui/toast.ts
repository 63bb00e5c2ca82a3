import { notifications } from '@mantine/notifications'

/** Says that something worked, for 6 s (specification section 9). What went wrong stays in its place instead. */
export function toast(message: string): void {
  notifications.show({ message, autoClose: 6_000, closeButtonProps: { 'aria-label': 'Dismiss' } })
}
