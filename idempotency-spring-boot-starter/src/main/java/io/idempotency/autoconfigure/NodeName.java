package io.idempotency.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.idempotency.store.ClaimOrigin;

/**
 * Names this node in the records of its calls.
 */
final class NodeName {

	private static final int MAX_HOST_LENGTH = 44;

	/** The files with the current name and the startup name of a Linux host. */
	static final List<Path> FILES = List.of(Path.of("/proc/sys/kernel/hostname"), Path.of("/etc/hostname"));

	private NodeName() {
	}

	static ClaimOrigin of(IdempotencyProperties properties) {
		String node = properties.node();
		return new ClaimOrigin((node != null) ? node : usual(System.getenv(), FILES, ProcessHandle.current().pid()),
				null, null);
	}

	/**
	 * Returns the name of host and process. The host comes from the environment, where
	 * containers and shells set it, or else from the files of the machine. A network
	 * lookup could take seconds.
	 */
	static String usual(Map<String, String> environment, List<Path> files, long process) {
		String host = Stream
			.concat(Stream.of("HOSTNAME", "COMPUTERNAME").map((name) -> environment.getOrDefault(name, "")),
					files.stream().map(NodeName::read))
			.map(String::strip)
			.filter((name) -> !name.isEmpty())
			.findFirst()
			.orElse("");
		String printable = host.replaceAll("[^!-~]", "_");
		return printable.substring(0, Math.min(printable.length(), MAX_HOST_LENGTH)) + ":" + process;
	}

	private static String read(Path file) {
		try {
			return Files.readString(file, StandardCharsets.ISO_8859_1);
		}
		catch (IOException ex) {
			// Other systems have no such file, and a sandbox may hide it.
			return "";
		}
	}

}
