import { Notifications, notifications } from '@mantine/notifications'

export const show = (message: string): string =>
  notifications.show({ message, autoClose: 6_000, closeButtonProps: { 'aria-label': 'Dismiss' } })

export default function ToastList() {
  return <Notifications position="bottom-right" limit={4} withinPortal={false} />
}
