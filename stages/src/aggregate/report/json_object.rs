//! A JSON object that is written field by field, so that its largest field is never in memory as a value.

use serde::Serialize;

/// The text of a JSON object, so far.
pub(super) struct JsonObject {
    text: Vec<u8>,
    empty: bool,
}

impl JsonObject {
    /// An object without fields.
    pub(super) fn new() -> Self {
        JsonObject { text: vec![b'{'], empty: true }
    }

    fn name(&mut self, name: &str) -> Result<(), serde_json::Error> {
        if !self.empty {
            self.text.push(b',');
        }
        self.empty = false;
        serde_json::to_writer(&mut self.text, name)?;
        self.text.push(b':');
        Ok(())
    }

    /// Adds a field.
    pub(super) fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), serde_json::Error> {
        self.name(name)?;
        serde_json::to_writer(&mut self.text, value)
    }

    /// Opens an array field; [`JsonObject::item`] fills it and [`JsonObject::end_array`] closes it.
    pub(super) fn begin_array(&mut self, name: &str) -> Result<(), serde_json::Error> {
        self.name(name)?;
        self.text.push(b'[');
        Ok(())
    }

    /// Adds an item to the open array.
    pub(super) fn item<T: Serialize>(&mut self, value: &T) -> Result<(), serde_json::Error> {
        if self.text.last() != Some(&b'[') {
            self.text.push(b',');
        }
        serde_json::to_writer(&mut self.text, value)
    }

    /// Closes the open array.
    pub(super) fn end_array(&mut self) {
        self.text.push(b']');
    }

    /// The whole text, with a final newline.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.text.extend(b"}\n");
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_writes_what_serde_reads() {
        let mut object = JsonObject::new();
        object.field("a \"name\"", &1).expect("field");
        object.begin_array("none").expect("array");
        object.end_array();
        object.begin_array("two").expect("array");
        object.item(&"[").expect("item");
        object.item(&"x").expect("item");
        object.end_array();
        object.field("last", &()).expect("field");
        assert_eq!(object.finish(), b"{\"a \\\"name\\\"\":1,\"none\":[],\"two\":[\"[\",\"x\"],\"last\":null}\n");
    }
}
