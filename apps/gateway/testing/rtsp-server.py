"""An RTSP server of GStreamer for tests: `rtsp-server.py NAME=PIPELINE…` prints its port and reads commands from
stdin.

With USER and PASSWORD in the environment it requires them, by Digest. With ONLY_UDP it offers no other transport. A
command is `set ELEMENT PROPERTY VALUE`, for
every stream, open or opened later. It ends when its stdin ends.
"""
import os
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

Gst.init(None)
server = GstRtspServer.RTSPServer(address="127.0.0.1", service=os.environ.get("PORT", "0"))
user = os.environ.get("USER")
if user:
    auth = GstRtspServer.RTSPAuth()
    auth.set_supported_methods(2)  # GST_RTSP_AUTH_DIGEST
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "viewer")
    auth.add_digest(user, os.environ["PASSWORD"], token)
    server.set_auth(auth)

media = []
settings = {}


def put(made, element, name, value):
    found = made.get_element().get_by_name(element)
    if found:
        Gst.util_set_object_arg(found, name, value)


def configure(_factory, made):
    media.append(made)
    for (element, name), value in settings.items():
        put(made, element, name, value)


for argument in sys.argv[1:]:
    name, pipeline = argument.split("=", 1)
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch("( " + pipeline + " )")
    factory.set_shared(True)
    if os.environ.get("ONLY_UDP"):
        gi.require_version("GstRtsp", "1.0")
        from gi.repository import GstRtsp

        factory.set_protocols(GstRtsp.RTSPLowerTrans.UDP)
    if user:
        permissions = GstRtspServer.RTSPPermissions()
        permissions.add_permission_for_role("viewer", "media.factory.access", True)
        permissions.add_permission_for_role("viewer", "media.factory.construct", True)
        factory.set_permissions(permissions)
    factory.connect("media-configure", configure)
    server.get_mount_points().add_factory("/" + name, factory)

loop = GLib.MainLoop()


def take(line):
    _set, element, name, value = line.split(" ", 3)
    settings[element, name] = value
    for made in media:
        put(made, element, name, value)


def listen():
    for line in sys.stdin:
        GLib.idle_add(take, line.strip())
    GLib.idle_add(loop.quit)


server.attach(None)
print(server.get_bound_port(), flush=True)
threading.Thread(target=listen, daemon=True).start()
loop.run()
