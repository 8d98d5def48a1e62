//! Listings by business type. A listing without a type leaves fictitious names out.
//!
//! Source: API document, parameter `type` of "GET /v1/fl/businesses".

use super::reference::EntityType;

/// The listing of a day or of a name prefix, by the type it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Listing {
    /// Every type except fictitious names.
    Untyped,
    /// One type.
    Of(EntityType),
}

impl Listing {
    /// The listing of fictitious names.
    pub const FICTITIOUS: Self = Self::Of(EntityType::Fictitious);
    /// The two listings that together hold every business.
    pub const EVERY_TYPE: [Self; 2] = [Self::Untyped, Self::FICTITIOUS];

    /// The listing of a label.
    pub fn from_label(label: &str) -> Option<Self> {
        if label == Self::Untyped.label() {
            Some(Self::Untyped)
        } else {
            EntityType::from_key(label).map(Self::Of)
        }
    }

    /// The name of the listing in `coverage` and in the run state: `*`, or the key of its type.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Untyped => "*",
            Self::Of(kind) => kind.key(),
        }
    }

    /// What the listing of a label has, in words.
    pub fn name_of(label: &str) -> &str {
        match Self::from_label(label) {
            Some(Self::Untyped) => "all types but fictitious names",
            Some(Self::FICTITIOUS) => "fictitious names",
            _ => label,
        }
    }

    /// The `type` parameter that asks for the listing.
    pub const fn kind(self) -> Option<EntityType> {
        match self {
            Self::Untyped => None,
            Self::Of(kind) => Some(kind),
        }
    }

    /// Whether the listing is the one of fictitious names.
    pub const fn is_fictitious(self) -> bool {
        matches!(self, Self::FICTITIOUS)
    }

    /// Whether businesses of this type are in the listing.
    pub fn holds(self, entity_type: &str) -> bool {
        match self {
            Self::Untyped => !Self::FICTITIOUS.holds(entity_type),
            Self::Of(kind) => kind.key() == entity_type,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_of_the_two_listings_holds_each_type() {
        for kind in EntityType::ALL.map(EntityType::key).into_iter().chain(["other"]) {
            let holders: Vec<_> =
                Listing::EVERY_TYPE.into_iter().filter(|listing| listing.holds(kind)).collect();
            assert_eq!(holders.len(), 1, "{kind}");
            assert_eq!(holders[0].is_fictitious(), kind == "fictitious", "{kind}");
        }
    }

    #[test]
    fn every_listing_is_found_by_its_label() {
        for listing in EntityType::ALL.map(Listing::Of).into_iter().chain([Listing::Untyped]) {
            assert_eq!(Listing::from_label(listing.label()), Some(listing));
            assert_eq!(listing.kind().map_or(Listing::Untyped, Listing::Of), listing);
        }
        assert_eq!(Listing::from_label("other"), None);
        let names = ["*", "fictitious", "llc", "other"].map(Listing::name_of);
        assert_eq!(names, ["all types but fictitious names", "fictitious names", "llc", "other"]);
    }
}
