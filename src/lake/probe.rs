//! Whether the place of a lake keeps what commits rely on: an object is created only if it is absent.
//!
//! Some stores ignore that condition. Then two runs both publish, and the rows of one are lost.

use super::error::LakeError;
use super::format::layout;
use super::handle::Lake;
use super::snapshot::write_lock::LakeLock;

/// Names the place that passed the trial, so that it is tried once. A copy of it in another store is worth nothing there.
const PROBED: &str = "state/probed";

impl Lake {
    /// Takes the lake for writing, makes its folders, tries an object store that was never tried, and repairs what a killed run left.
    ///
    /// `holder` describes the process for others, for example its id and host.
    ///
    /// # Errors
    ///
    /// [`LakeError::Held`]; [`LakeError::Unreliable`] for a store that cannot keep a lake; [`LakeError::Storage`],
    /// [`LakeError::Remote`].
    pub fn lock(&self, run_id: &str, holder: &str) -> Result<LakeLock, LakeError> {
        let lock = self.lock_unrepaired(run_id, holder)?;
        if let Some(place) = self.backend.place()
            && self.backend.read(PROBED)?.is_none_or(|probed| probed != place.as_bytes())
        {
            self.probe(&blake3::hash(format!("{run_id} {holder}").as_bytes()).to_hex())?;
            self.backend.write(PROBED, place.as_bytes())?;
        }
        self.recover(&lock)?;
        Ok(lock)
    }

    /// Tries what a commit needs of the backend: write a file, read it back, be refused a second creation, delete it.
    /// `token` is part of that file's name and must be new each time.
    ///
    /// # Errors
    ///
    /// [`LakeError::Unreliable`] when the backend breaks a guarantee that commits need; [`LakeError::Storage`],
    /// [`LakeError::Remote`], [`LakeError::Name`].
    pub fn probe(&self, token: &str) -> Result<(), LakeError> {
        layout::check_run_id(token)?;
        let name = format!("state/probe-{token}");
        let tried = self.try_to_create(&name);
        if let Err(error) = self.backend.remove(&name) {
            tracing::warn!("a file of a trial stays: {error}");
        }
        tried
    }

    fn try_to_create(&self, name: &str) -> Result<(), LakeError> {
        let wrong = |what: String| Err(LakeError::Unreliable { place: self.to_string(), what });
        let is_first = || -> Result<bool, LakeError> {
            Ok(self.backend.read(name)?.as_deref() == Some(name.as_bytes()))
        };
        match self.backend.create(name, name.as_bytes()) {
            // A creation whose answer was lost is refused when it is sent again.
            Ok(_) => {}
            Err(LakeError::Remote { what, .. }) if self.backend.write(name, b"plain").is_ok() => {
                return wrong(format!("it refuses to create an object only if it is absent ({what})"));
            }
            Err(error) => return Err(error),
        }
        if !is_first()? {
            return wrong("the bytes read differ from the bytes written".to_owned());
        }
        if self.backend.create(name, b"again")? || !is_first()? {
            return wrong(
                "it creates an object that exists, so two runs would overwrite each other".to_owned(),
            );
        }
        Ok(())
    }
}
