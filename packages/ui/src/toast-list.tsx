import { Notifications, notifications } from '@mantine/notifications'
import { Button } from '@mantine/core'
import { Link } from 'react-router'

/** Leads to another screen, or does something here. */
export type ToastLink = { words: string } & ({ to: string } | { onClick: () => void })

const SHOWN_MS = 6_000

export function show(message: string, link: ToastLink | undefined): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const hideLater = () => {
    clearTimeout(timer)
    timer = setTimeout(() => notifications.hide(id), SHOWN_MS)
  }
  const id = notifications.show({
    message: (
      <>
        <p>{message}</p>
        {link !== undefined &&
          ('to' in link ? (
            <Link to={link.to} onClick={() => notifications.hide(id)}>
              {link.words}
            </Link>
          ) : (
            <Button
              variant="default"
              size="sm"
              onClick={() => {
                notifications.hide(id)
                link.onClick()
              }}
            >
              {link.words}
            </Button>
          ))}
      </>
    ),
    // A toast stays while the pointer moves over it or the focus is in it. The library's own time would also stop
    // below a pointer that rests: over the button which that pointer just pressed, the toast would stay for good.
    autoClose: false,
    onOpen: hideLater,
    onPointerMove: hideLater,
    onFocusCapture: () => clearTimeout(timer),
    onBlurCapture: hideLater,
    closeButtonProps: { 'aria-label': 'Dismiss' },
  })
}

export default function ToastList() {
  return <Notifications position="bottom-right" limit={4} withinPortal={false} />
}
