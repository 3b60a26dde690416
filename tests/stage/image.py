"""Trees of images that nobody booted: unit files, links that enable them, presets, lists of packages."""

from __future__ import annotations

from pathlib import Path

KUBELET = """[Unit]
Description=kubelet: The Kubernetes Node Agent
After=containerd.service
Requires=containerd.service
[Service]
ExecStart=/usr/bin/kubelet --config=/etc/kubernetes/kubelet/kubelet-config.json
Restart=always
[Install]
WantedBy=multi-user.target
"""
CONTAINERD = "[Service]\nExecStart=/usr/bin/containerd\nRestart=always\n[Install]\nWantedBy=multi-user.target\n"
ECS = """[Unit]
Description=Amazon Elastic Container Service - container agent
[Service]
ExecStartPre=/usr/libexec/amazon-ecs-init pre-start
ExecStart=/usr/libexec/amazon-ecs-init start
Restart=on-failure
[Install]
WantedBy=multi-user.target
"""
VENDOR, OWN = "usr/lib/systemd/system", "etc/systemd/system"


class Image:
    """A tree under a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in (VENDOR, OWN, "usr/lib/systemd/system-preset", "etc/systemd/system-preset"):
            (root / folder).mkdir(parents=True)

    def unit(self, name: str, text: str, folder: str = VENDOR) -> None:
        """A unit file."""
        (self.root / folder / name).write_text(text)

    def enable(self, name: str, target: str = "multi-user.target", kind: str = "wants") -> None:
        """The link that `systemctl enable` makes."""
        folder = self.root / OWN / f"{target}.{kind}"
        folder.mkdir(exist_ok=True)
        (folder / name).symlink_to(f"/{VENDOR}/{name}")

    def mask(self, name: str) -> None:
        """The link that `systemctl mask` makes."""
        (self.root / OWN / name).symlink_to("/dev/null")

    def file(self, path: str, text: str = "") -> None:
        """Any other file."""
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def learning_image(root: Path, kubernetes: bool = True, ecs_cluster: str = "") -> Image:
    """The published base image: an ECS agent that a boot starts, on what became Kubernetes nodes."""
    image = Image(root)
    image.unit("ecs.service", ECS)
    image.enable("ecs.service")
    image.unit("containerd.service", CONTAINERD)
    image.enable("containerd.service")
    image.file("/var/lib/dpkg/info/amazon-ecs-init.list", "/.\n/lib/systemd/system/ecs.service\n")
    image.file("/var/lib/dpkg/status", "Package: amazon-ecs-init\nStatus: install ok installed\nVersion: 1.82.0-1\n\n")
    if kubernetes:
        image.unit("kubelet.service", KUBELET)
        image.enable("kubelet.service")
        image.file("/etc/kubernetes/kubelet/kubelet-config.json", "{}")
    if ecs_cluster:
        image.file("/etc/ecs/ecs.config", f"ECS_CLUSTER={ecs_cluster}\n")
    return image
