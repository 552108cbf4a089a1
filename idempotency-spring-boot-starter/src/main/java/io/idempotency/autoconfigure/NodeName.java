package io.idempotency.autoconfigure;

import java.util.Map;

import io.idempotency.store.ClaimOrigin;
import org.jspecify.annotations.Nullable;

/**
 * Names this node in the records of its calls.
 */
final class NodeName {

	private static final int MAX_HOST_LENGTH = 44;

	private NodeName() {
	}

	static ClaimOrigin of(IdempotencyProperties properties) {
		String node = properties.node();
		return new ClaimOrigin((node != null) ? node : usual(System.getenv(), ProcessHandle.current().pid()), null,
				null);
	}

	/**
	 * Returns the name of host and process. The host comes from the environment, where
	 * containers and shells put it: the question to the network may take seconds.
	 */
	static String usual(Map<String, String> environment, long process) {
		String host = first(environment.get("HOSTNAME"), environment.get("COMPUTERNAME"));
		String printable = host.replaceAll("[^!-~]", "_");
		return printable.substring(0, Math.min(printable.length(), MAX_HOST_LENGTH)) + ":" + process;
	}

	private static String first(@Nullable String name, @Nullable String other) {
		if (name != null) {
			return name;
		}
		return (other != null) ? other : "";
	}

}
