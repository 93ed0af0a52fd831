use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;

/// A tar archive whose entries have these names, whatever they are: `tar` itself would write no harmful one.
fn tar_gz(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (name, kind, content) in entries {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        if matches!(kind, EntryType::Symlink | EntryType::Link) {
            header.set_link_name("elsewhere").expect("a link");
        }
        header.set_cksum();
        tar.append(&header, *content).expect("an entry");
    }
    tar.into_inner().expect("a tar").finish().expect("a gzip")
}

fn zipped(entries: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, mode, content) in entries {
        let options = SimpleFileOptions::default();
        match mode & 0o170_000 {
            0o120_000 => zip.add_symlink(*name, "elsewhere", options).expect("a link"),
            _ if name.ends_with('/') => zip.add_directory(*name, options).expect("a folder"),
            _ => {
                zip.start_file(*name, options).expect("a file");
                zip.write_all(content).expect("content");
            }
        }
    }
    zip.finish().expect("a zip").into_inner()
}

const SMALL: Limits = Limits { entries: 5, bytes: 3_000_000, ratio: 10, free_bytes: 1_000 };

/// The files of an archive by path, or why it is refused. Nothing may be beside the folder.
fn unpacked(
    bytes: &[u8],
    format: ArchiveFormat,
    strip: bool,
    limits: &Limits,
) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let space = tempfile::tempdir().expect("a folder");
    let archive = space.path().join("archive");
    std::fs::write(&archive, bytes).expect("write");
    let into = space.path().join("into");
    let outcome = unpack(&archive, format, &into, strip, limits);
    let beside: Vec<PathBuf> =
        std::fs::read_dir(space.path()).expect("a folder").map(|e| e.expect("entry").path()).collect();
    assert_eq!(beside.len(), 2, "{beside:?}");
    outcome.map_err(|error| {
        error.to_string().split_once("archive: ").map(|(_, why)| why.to_string()).unwrap_or(error.to_string())
    })?;
    let mut files = BTreeMap::new();
    let mut open = vec![into.clone()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(&into).expect("below").display().to_string();
                files.insert(name, std::fs::read(&path).expect("read"));
            }
        }
    }
    Ok(files)
}

fn tar(entries: &[(&str, EntryType, &[u8])]) -> Result<BTreeMap<String, Vec<u8>>, String> {
    unpacked(&tar_gz(entries), ArchiveFormat::TarGz, false, &SMALL)
}

fn zip(entries: &[(&str, u32, &[u8])]) -> Result<BTreeMap<String, Vec<u8>>, String> {
    unpacked(&zipped(entries), ArchiveFormat::Zip, false, &SMALL)
}

#[test]
fn files_and_folders_are_made() {
    let files = tar(&[
        ("pax_global_header", EntryType::XGlobalHeader, b"19 comment=0123456\n"),
        ("./a/", EntryType::Directory, b""),
        ("./a/b.txt", EntryType::Regular, b"two"),
        ("c/d", EntryType::Regular, b""),
    ]);
    let expected = BTreeMap::from([("a/b.txt".to_string(), b"two".to_vec()), ("c/d".to_string(), Vec::new())]);
    assert_eq!(files, Ok(expected.clone()));
    assert_eq!(zip(&[("a/", 0, b""), ("a/b.txt", 0, b"two"), ("c/d", 0, b"")]), Ok(expected));
}

#[test]
fn the_first_folder_is_left_away() {
    let archive = tar_gz(&[
        ("top-1/", EntryType::Directory, b""),
        ("top-1/a/b.txt", EntryType::Regular, b"two"),
        ("top-1/c", EntryType::Regular, b"one"),
    ]);
    let files = unpacked(&archive, ArchiveFormat::TarGz, true, &SMALL).expect("unpacked");
    assert_eq!(files.keys().collect::<Vec<_>>(), ["a/b.txt", "c"]);
    let flat = tar_gz(&[("readme", EntryType::Regular, b"one")]);
    let error = unpacked(&flat, ArchiveFormat::TarGz, true, &SMALL).expect_err("refused");
    assert_eq!(error, "its entry \"readme\" is a file where its one folder is expected");
}

#[test]
fn nothing_leaves_the_folder() {
    for name in ["../x", "a/../../x", "a/..", "/x", "//x", "C:/x", "C:x", "a\\..\\x", "..\\x"] {
        let told = |error: String| assert!(error.starts_with(&format!("its entry {name:?} ")), "{error}");
        told(tar(&[(name, EntryType::Regular, b"x")]).expect_err(name));
        told(tar(&[(name, EntryType::Directory, b"")]).expect_err(name));
    }
    assert!(zip(&[("../x", 0, b"x")]).expect_err("refused").contains("leaves the folder"));
    assert!(zip(&[("/x", 0, b"x")]).expect_err("refused").contains("no relative path"));
    let long = "x/".repeat(100);
    assert!(zip(&[(&long, 0, b"x")]).expect_err("refused").contains("too many folders"));
}

#[test]
fn links_and_devices_are_refused() {
    for (kind, what) in [
        (EntryType::Symlink, "a link"),
        (EntryType::Link, "a link"),
        (EntryType::Char, "a device"),
        (EntryType::Block, "a device"),
        (EntryType::Fifo, "a device"),
        (EntryType::new(b'Z'), "of an unknown kind"),
    ] {
        let error = tar(&[("a", EntryType::Regular, b"x"), ("b", kind, b"")]).expect_err(what);
        assert_eq!(error, format!("its entry \"b\" is {what}; only files and folders are taken"));
    }
    let error = zip(&[("b", 0o120_777, b"")]).expect_err("refused");
    assert_eq!(error, "its entry \"b\" is a link; only files and folders are taken");
}

#[test]
fn one_path_is_there_once() {
    let twice = [("a/b", EntryType::Regular, &b"x"[..]), ("a/./b", EntryType::Regular, b"y")];
    assert_eq!(tar(&twice), Err("its entry \"a/./b\" stands in it twice".to_string()));
}

#[test]
fn bombs_are_refused() {
    let zeros = vec![0; 2_000_000];
    let large = [("zeros", EntryType::Regular, &zeros[..])];
    let error = tar(&large).expect_err("refused");
    assert!(error.contains("hold more than 10 times as many"), "{error}");
    let error = zip(&[("zeros", 0, &zeros)]).expect_err("refused");
    assert!(error.contains("hold more than 10 times as many"), "{error}");
    let free = Limits { free_bytes: 2_000_000, ..SMALL };
    assert!(unpacked(&tar_gz(&large), ArchiveFormat::TarGz, false, &free).is_ok());
    let few = Limits { bytes: 1_999_999, ..free };
    let error = unpacked(&tar_gz(&large), ArchiveFormat::TarGz, false, &few).expect_err("refused");
    assert_eq!(error, "it holds more than 1999999 bytes");
    let names = ["a", "b", "c", "d", "e", "f"].map(|name| (name, EntryType::Regular, &b""[..]));
    assert_eq!(tar(&names), Err("it has more than 5 entries".to_string()));
}

#[test]
fn damage_is_told() {
    let content: Vec<u8> = (0..20_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let whole = tar_gz(&[("a", EntryType::Regular, &content)]);
    let wide = Limits { ratio: 1000, ..SMALL };
    let error = |bytes: &[u8], format| unpacked(bytes, format, false, &wide).expect_err("refused");
    assert!(error(&whole[..whole.len() / 2], ArchiveFormat::TarGz).starts_with("it is damaged at its entry \"a\": "));
    assert!(error(b"no archive", ArchiveFormat::TarGz).starts_with("it is damaged: "));
    let whole = zipped(&[("a", 0, &content)]);
    assert!(error(&whole[..whole.len() / 2], ArchiveFormat::Zip).starts_with("it is damaged: "));
    assert!(error(b"no archive", ArchiveFormat::Zip).starts_with("it is damaged: "));
    let mut flipped = whole.clone();
    flipped[1000] ^= 1;
    assert!(error(&flipped, ArchiveFormat::Zip).starts_with("it is damaged at its entry \"a\": "));
}
