//! The listings of the API. A search without `type` returns every type but fictitious names, which are returned only when asked for.
//!
//! Source: API document, "Search parameters", `type`.

use super::reference::EntityType;

/// What a search returns: all types but fictitious names, or one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Listing {
    /// A search without `type`.
    Untyped,
    /// A search of one type.
    Of(EntityType),
}

impl Listing {
    /// Its name in the lake and in JSON: `*`, or the key of the type.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Untyped => "*",
            Self::Of(kind) => kind.key(),
        }
    }

    /// The listing of a label.
    pub fn from_label(label: &str) -> Option<Self> {
        match label {
            "*" => Some(Self::Untyped),
            key => EntityType::from_key(key).map(Self::Of),
        }
    }

    /// The `type` parameter of its search.
    pub const fn entity_type(self) -> Option<EntityType> {
        match self {
            Self::Untyped => None,
            Self::Of(kind) => Some(kind),
        }
    }

    /// Whether it returns businesses of a type, given by its key.
    pub fn holds(self, entity_type: &str) -> bool {
        match self {
            Self::Untyped => entity_type != EntityType::Fictitious.key(),
            Self::Of(kind) => entity_type == kind.key(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_untyped_listing_holds_every_type_but_fictitious_names() {
        assert!(Listing::Untyped.holds("llc") && Listing::Untyped.holds("other"));
        assert!(!Listing::Untyped.holds("fictitious"));
        assert!(
            Listing::Of(EntityType::Trust).holds("trust") && !Listing::Of(EntityType::Trust).holds("llc")
        );
    }

    #[test]
    fn each_label_names_one_listing() {
        for listing in EntityType::ALL.map(Listing::Of).into_iter().chain([Listing::Untyped]) {
            assert_eq!(Listing::from_label(listing.label()), Some(listing));
        }
        assert_eq!(Listing::from_label("other"), None);
    }
}
