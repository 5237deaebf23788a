//! Tables of what every command sees of a machine: its programs, and the toolchains in a home
//! directory. Secrets in these are masked. All else is there only if it is named.

/// Directories of the system, or links in their stead.
pub(crate) const SYSTEM: &[&str] = &[
    "/bin",
    "/etc",
    "/gnu",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/opt",
    "/sbin",
    "/snap",
    "/usr",
    // Of the kernel's what toolchains ask for. The rest shows the devices of the machine, such as its network cards.
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm",
];
/// What of `/run` programs look for.
pub(crate) const SYSTEM_RUN: &[&str] = &["/run/current-system", "/run/opengl-driver"];
/// What of `/run` looking up names needs, with a network.
pub(crate) const NAMES_RUN: &[&str] =
    &["/run/NetworkManager/resolv.conf", "/run/resolvconf", "/run/systemd/resolve"];
/// Secrets of the system.
pub(crate) const SYSTEM_MASKED: &[&str] = &[
    "/etc/NetworkManager/system-connections",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/krb5.keytab",
    "/etc/letsencrypt",
    "/etc/rancher",
    "/etc/kubernetes",
    "/etc/security/opasswd",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/wireguard",
    "/nix/var/nix/daemon-socket",
];
/// Private directories that every command has for itself.
pub(crate) const SCRATCH: &[&str] = &["/tmp", "/var/tmp"];
/// Devices that every program may use. A command has no other terminal than one of its own.
pub(crate) const DEVICES: &[&str] =
    &["/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"];
/// The directory of memory that programs share by names: private as well, and bounded by itself.
pub(crate) const SHARED_MEMORY: &str = "/dev/shm";

/// What of a home directory is toolchains and their settings.
pub(crate) const HOME: &[&str] = &[
    ".asdf",
    ".bun",
    ".cabal",
    ".cache/go-build",
    ".cache/pip",
    ".cache/pnpm",
    ".cache/uv",
    ".cache/yarn",
    ".cargo",
    ".config/git",
    ".config/rustfmt",
    ".config/yarn",
    ".deno",
    ".dotnet",
    ".elan",
    ".fnm",
    ".gem",
    ".ghcup",
    ".gitconfig",
    ".gitignore",
    ".gitignore_global",
    ".go",
    ".gradle",
    ".ivy2",
    ".julia",
    ".juliaup",
    ".konan",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".m2",
    ".nix-profile",
    ".npm",
    ".nuget",
    ".nvm",
    ".opam",
    ".pub-cache",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rvm",
    ".sbt",
    ".sdkman",
    ".stack",
    ".volta",
    "go",
    "sdk",
];
/// Keys, passwords and what agents and browsers keep, wherever a home directory is seen.
pub(crate) const HOME_MASKED: &[&str] = &[
    ".aws",
    ".azure",
    ".bash_history",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/chromium",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/google-chrome",
    ".config/hub",
    ".config/moss",
    ".config/op",
    ".docker",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".gradle/gradle.properties",
    ".ivy2/.credentials",
    ".kube",
    ".local/share/keyrings",
    ".local/state/moss",
    ".m2/settings-security.xml",
    ".m2/settings.xml",
    ".mozilla",
    ".netrc",
    ".npmrc",
    ".nuget/NuGet/NuGet.Config",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".sbt/.credentials",
    ".ssh",
    ".terraform.d",
    ".thunderbird",
    ".zsh_history",
];
/// The same in the directory of a toolchain itself, wherever that lies.
pub(crate) const TOOLCHAIN_MASKED: &[&str] = &[
    ".credentials",
    ".env",
    "credentials",
    "credentials.toml",
    "gradle.properties",
    "settings-security.xml",
    "settings.xml",
];
/// What lies deeper in such a directory; `*` stands for any characters of a name. A cache that holds some of it is
/// given to commands all the same, without that.
pub(crate) const TOOLCHAIN_SECRETS: &[&str] = &[
    ".develocity/keys.properties",
    ".gradle-enterprise/keys.properties",
    "corefx/cryptography/x509stores/my/*.pfx",
    "credentials.json",
    "develocity/keys.properties",
    "enterprise/keys.properties",
    "gpg/private-keys-v1.d",
    "gpg/secring.asc",
    "gpg/secring.gpg",
    "plugins/opam-publish",
    "servers/*/auth.toml",
    "upload/credentials.json",
];
/// What a directory holds that is somebody's project. Many toolchains are clones: `.git` is no sign.
pub(crate) const PROJECT_SIGNS: &[&str] =
    &[".env", "Cargo.toml", "go.mod", "package.json", "pyproject.toml"];
/// Variables that name the directory of a toolchain.
pub(crate) const TOOLCHAINS: &[&str] = &[
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "CARGO_HOME",
    "CONDA_PREFIX",
    "DOTNET_ROOT",
    "GOPATH",
    "GOROOT",
    "GRADLE_USER_HOME",
    "JAVA_HOME",
    "M2_HOME",
    "MAVEN_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "SDKMAN_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];
