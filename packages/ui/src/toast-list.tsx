import { Notifications, notifications } from '@mantine/notifications'
import { Link } from 'react-router'

export type ToastLink = { to: string; words: string }

export function show(message: string, link: ToastLink | undefined): void {
  const id = notifications.show({
    message: (
      <>
        <p>{message}</p>
        {link !== undefined && (
          <Link to={link.to} onClick={() => notifications.hide(id)}>
            {link.words}
          </Link>
        )}
      </>
    ),
    autoClose: 6_000,
    closeButtonProps: { 'aria-label': 'Dismiss' },
  })
}

export default function ToastList() {
  return <Notifications position="bottom-right" limit={4} withinPortal={false} />
}
