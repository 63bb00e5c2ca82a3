type ClipVideoProps = { src: string; label: string; className: string | undefined; onBroken: () => void }

/** The clip of a detection. It begins by itself, and without sound, because browsers require that. */
export function ClipVideo({ src, label, className, onBroken }: ClipVideoProps) {
  return (
    // No captions: its sound, if any, is of a field or a yard.
    <video className={className} src={src} controls autoPlay muted playsInline aria-label={label} onError={onBroken} />
  )
}
