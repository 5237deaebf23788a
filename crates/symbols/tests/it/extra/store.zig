const std = @import("std");

/// A store.
pub const Store = struct {
    items: []u8,
    /// Finds.
    pub fn find(self: *Store, id: usize) u8 { const local = self.items[id]; return helper(local); }
};
const Kind = enum { one, two };
pub fn helper(a: u8) u8 { return std.mem.zero(a); }
var limit: u32 = 3;
test "finds" { helper(1); }
