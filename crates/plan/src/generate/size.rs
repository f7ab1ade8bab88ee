//! The size of the cluster where it is demanded and not drawn: `nodes=1`, `clients=3`.

use super::Restrictions;
use whitewater_sim::{CLIENTS_MAX, SERVERS_MAX};

/// What is demanded of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    /// Number of servers.
    pub(super) servers: Option<usize>,
    /// Number of clients.
    pub(super) clients: Option<usize>,
}

impl Size {
    /// The names it has among the values that are given.
    pub(super) const NAMES: [&str; 2] = ["nodes", "clients"];

    /// Whether a value of that name says something about it.
    pub(super) fn has(name: &str) -> bool {
        Size::NAMES.contains(&name)
    }

    /// Reads what is demanded.
    ///
    /// # Errors
    /// Says how many there may be.
    pub(super) fn demanded(restrictions: &Restrictions) -> Result<Size, String> {
        let number = |wanted: &str, low: usize, high: usize| {
            let Some((_, value)) = restrictions.set.iter().find(|(name, _)| name == wanted) else {
                return Ok(None);
            };
            let number = value.parse().ok().filter(|number| (low..=high).contains(number));
            number
                .map(Some)
                .ok_or_else(|| format!("`{wanted}`: `{value}` is not one of its values: {low} to {high}"))
        };
        Ok(Size { servers: number("nodes", 1, SERVERS_MAX)?, clients: number("clients", 0, CLIENTS_MAX)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demanded(set: &[(&str, &str)]) -> Result<(Option<usize>, Option<usize>), String> {
        let set = set.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let size = Size::demanded(&Restrictions { set, ..Restrictions::default() })?;
        Ok((size.servers, size.clients))
    }

    #[test]
    fn what_is_demanded_is_read_and_the_rest_left_open() {
        assert_eq!(demanded(&[]), Ok((None, None)));
        assert_eq!(demanded(&[("nodes", "1"), ("tick", "1ms")]), Ok((Some(1), None)));
        assert_eq!(demanded(&[("clients", "0")]), Ok((None, Some(0))));
    }

    #[test]
    fn a_cluster_of_no_servers_or_too_many_is_refused() {
        for value in ["0", "17", "-1", "few"] {
            assert!(demanded(&[("nodes", value)]).unwrap_err().contains("1 to 16"), "{value}");
        }
        assert!(demanded(&[("clients", "9")]).unwrap_err().contains("0 to 8"));
    }
}
