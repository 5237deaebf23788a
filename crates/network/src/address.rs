//! Which addresses of the internet protocol lead where: into the open network, to something nearby,
//! or to what nobody asks for. A pure table.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where an address leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressReach {
    /// Never an address to ask: unspecified, multicast, reserved, for documentation, link-local, or
    /// a service that hands out the credentials of the machine.
    Never,
    /// This machine or the network around it: only for who names the very host.
    Near,
    /// Any other address: for whoever may reach hosts at all.
    Public,
}

/// Blocks of IPv4 that are not public: address, length of the prefix, where it leads.
const BLOCKS_V4: &[(Ipv4Addr, u32, AddressReach)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8, AddressReach::Never),
    (Ipv4Addr::new(10, 0, 0, 0), 8, AddressReach::Near),
    // Alibaba's metadata, in the block of carriers.
    (Ipv4Addr::new(100, 100, 100, 200), 32, AddressReach::Never),
    (Ipv4Addr::new(100, 64, 0, 0), 10, AddressReach::Near),
    (Ipv4Addr::new(127, 0, 0, 0), 8, AddressReach::Near),
    // Azure's metadata, among public addresses.
    (Ipv4Addr::new(168, 63, 129, 16), 32, AddressReach::Never),
    // Link-local, with the metadata of most clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16, AddressReach::Never),
    (Ipv4Addr::new(172, 16, 0, 0), 12, AddressReach::Near),
    // Protocol assignments, with Oracle's metadata.
    (Ipv4Addr::new(192, 0, 0, 0), 24, AddressReach::Never),
    (Ipv4Addr::new(192, 0, 2, 0), 24, AddressReach::Never),
    (Ipv4Addr::new(192, 88, 99, 0), 24, AddressReach::Never),
    (Ipv4Addr::new(192, 168, 0, 0), 16, AddressReach::Near),
    (Ipv4Addr::new(198, 18, 0, 0), 15, AddressReach::Never),
    (Ipv4Addr::new(198, 51, 100, 0), 24, AddressReach::Never),
    (Ipv4Addr::new(203, 0, 113, 0), 24, AddressReach::Never),
    // Multicast, reserved, broadcast.
    (Ipv4Addr::new(224, 0, 0, 0), 3, AddressReach::Never),
];

/// Blocks of IPv6, the first that fits counts; whatever is in none of them is not public.
const BLOCKS_V6: &[(Ipv6Addr, u32, Leads)] = &[
    (Ipv6Addr::LOCALHOST, 128, Leads::To(AddressReach::Near)),
    // IPv4 in the clothes of IPv6: connecting there connects to the IPv4 address.
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, Leads::AsV4 { bit: 96 }),
    // What a gateway translates: it must not be asked to turn round.
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, Leads::IfV4Public { bit: 96 }),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, Leads::IfV4Public { bit: 16 }),
    // Protocol assignments: Teredo, benchmarks, ORCHID.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Leads::To(AddressReach::Never)),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, Leads::To(AddressReach::Never)),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, Leads::To(AddressReach::Never)),
    (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3, Leads::To(AddressReach::Public)),
    // The metadata of AWS and of Google, among unique local addresses.
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0), 32, Leads::To(AddressReach::Never)),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0), 32, Leads::To(AddressReach::Never)),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Leads::To(AddressReach::Near)),
];

#[derive(Debug, Clone, Copy)]
enum Leads {
    To(AddressReach),
    /// Where the IPv4 address leads that begins at this bit.
    AsV4 {
        bit: u32,
    },
    /// Into the open network if that is where the IPv4 address leads that begins at this bit; else
    /// to no host.
    IfV4Public {
        bit: u32,
    },
}

/// Whether an address is one of the open network, whatever it is written as.
pub fn is_public(address: IpAddr) -> bool {
    reach(address) == AddressReach::Public
}

/// Says where an address leads.
pub fn reach(address: IpAddr) -> AddressReach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

fn reach_v4(address: Ipv4Addr) -> AddressReach {
    let is_in = |block: Ipv4Addr, length: u32| {
        (address.to_bits() ^ block.to_bits()).leading_zeros() >= length
    };
    let found = BLOCKS_V4.iter().find(|(block, length, _)| is_in(*block, *length));
    found.map_or(AddressReach::Public, |(.., reach)| *reach)
}

fn reach_v6(address: Ipv6Addr) -> AddressReach {
    let bits = address.to_bits();
    let is_in = |block: Ipv6Addr, length: u32| (bits ^ block.to_bits()).leading_zeros() >= length;
    // The 32 bits from this one on.
    let inner = |bit: u32| reach_v4(Ipv4Addr::from_bits((bits >> (96 - bit)) as u32));
    let found = BLOCKS_V6.iter().find(|(block, length, _)| is_in(*block, *length));
    match found.map(|(.., leads)| *leads) {
        Some(Leads::To(reach)) => reach,
        Some(Leads::AsV4 { bit }) => inner(bit),
        Some(Leads::IfV4Public { bit }) if inner(bit) == AddressReach::Public => {
            AddressReach::Public
        }
        Some(Leads::IfV4Public { .. }) | None => AddressReach::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use AddressReach::{Near, Never, Public};

    const ADDRESSES: &[(&str, AddressReach)] = &[
        ("1.1.1.1", Public),
        ("8.8.8.8", Public),
        ("9.255.255.255", Public),
        ("11.0.0.0", Public),
        ("100.63.255.255", Public),
        ("100.128.0.0", Public),
        ("172.15.255.255", Public),
        ("172.32.0.0", Public),
        ("192.0.1.1", Public),
        ("198.17.255.255", Public),
        ("198.20.0.0", Public),
        ("223.255.255.255", Public),
        ("10.0.0.1", Near),
        ("10.255.255.255", Near),
        ("100.64.0.1", Near),
        ("100.127.255.255", Near),
        ("127.0.0.1", Near),
        ("127.255.255.254", Near),
        ("172.16.0.1", Near),
        ("172.31.255.255", Near),
        ("192.168.0.1", Near),
        ("0.0.0.0", Never),
        ("0.1.2.3", Never),
        ("100.100.100.200", Never),
        ("168.63.129.16", Never),
        ("169.254.1.1", Never),
        ("169.254.169.254", Never),
        ("169.254.170.2", Never),
        ("192.0.0.192", Never),
        ("192.0.2.1", Never),
        ("192.88.99.1", Never),
        ("198.18.0.1", Never),
        ("198.19.255.255", Never),
        ("198.51.100.1", Never),
        ("203.0.113.1", Never),
        ("224.0.0.1", Never),
        ("239.255.255.250", Never),
        ("240.0.0.1", Never),
        ("255.255.255.255", Never),
        ("2606:4700:4700::1111", Public),
        ("2a00:1450:4001::1", Public),
        ("64:ff9b::101:101", Public),
        ("2002:101:101::1", Public),
        ("::ffff:1.1.1.1", Public),
        ("::1", Near),
        ("::ffff:127.0.0.1", Near),
        ("::ffff:10.1.2.3", Near),
        ("fc00::1", Near),
        ("fd12:3456::1", Near),
        ("::", Never),
        ("::127.0.0.1", Never),
        ("::1.1.1.1", Never),
        ("::ffff:0.0.0.0", Never),
        ("::ffff:169.254.169.254", Never),
        ("::ffff:0:127.0.0.1", Never),
        ("64:ff9b::7f00:1", Never),
        ("64:ff9b::a9fe:a9fe", Never),
        ("64:ff9b:1::1", Never),
        ("2002:7f00:1::1", Never),
        ("2002:a9fe:a9fe::", Never),
        ("2002:c0a8:101::1", Never),
        ("2001::1", Never),
        ("2001:0:7f00:1::", Never),
        ("2001:20::1", Never),
        ("2001:db8::1", Never),
        ("3fff::1", Never),
        ("100::1", Never),
        ("4000::1", Never),
        ("5f00::1", Never),
        ("fd00:ec2::254", Never),
        ("fd20:ce::254", Never),
        ("fe80::1", Never),
        ("febf::1", Never),
        ("fec0::1", Never),
        ("ff02::1", Never),
    ];

    #[test]
    fn each_address_leads_where_the_table_says() {
        for &(text, expected) in ADDRESSES {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(reach(address), expected, "{text}");
            assert_eq!(is_public(address), expected == Public, "{text}");
        }
    }

    #[test]
    fn an_address_in_the_clothes_of_ipv6_leads_no_further_than_bare() {
        for (block, length, _) in BLOCKS_V4 {
            let last = block.to_bits() | u32::MAX.checked_shr(*length).unwrap_or(0);
            for bare in [*block, Ipv4Addr::from_bits(last)] {
                let v6 = |prefix: u128, shift: u32| {
                    IpAddr::V6(Ipv6Addr::from_bits(prefix | u128::from(bare.to_bits()) << shift))
                };
                for dressed in [
                    IpAddr::V6(bare.to_ipv6_mapped()),
                    IpAddr::V6(bare.to_ipv6_compatible()),
                    v6(0x64_ff9b_u128 << 96, 0),
                    v6(0x2002_u128 << 112, 80),
                ] {
                    if dressed == IpAddr::V6(Ipv6Addr::LOCALHOST) {
                        continue;
                    }
                    assert!(reach(dressed) <= reach_v4(bare), "{dressed}");
                    assert!(!is_public(dressed), "{dressed}");
                }
            }
        }
    }
}
