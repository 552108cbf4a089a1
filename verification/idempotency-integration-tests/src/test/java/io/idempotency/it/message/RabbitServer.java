package io.idempotency.it.message;

import java.util.Map;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.FreePorts;
import org.apache.qpid.server.SystemLauncher;
import org.apache.qpid.server.model.SystemConfig;

import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;

/**
 * One broker for all tests of this JVM: the real RabbitMQ of
 * {@code -Didempotency.tests.rabbit}, or else one that speaks its protocol.
 */
final class RabbitServer {

	private static int port;

	private RabbitServer() {
	}

	static CachingConnectionFactory connections() throws Exception {
		String real = Backend.rabbit();
		return connections((real != null) ? real : "127.0.0.1:" + port());
	}

	static CachingConnectionFactory connections(String address) {
		CachingConnectionFactory factory = new CachingConnectionFactory();
		factory.setAddresses(address);
		factory.setUsername("guest");
		factory.setPassword("guest");
		return factory;
	}

	private static synchronized int port() throws Exception {
		if (port == 0) {
			int free = FreePorts.next();
			SystemLauncher launcher = new SystemLauncher();
			launcher.startup(Map.of(SystemConfig.TYPE, "Memory", SystemConfig.INITIAL_CONFIGURATION_LOCATION,
					RabbitServer.class.getResource("/qpid.json").toString(), SystemConfig.STARTUP_LOGGED_TO_SYSTEM_OUT,
					false, SystemConfig.CONTEXT,
					Map.of("qpid.amqp_port", String.valueOf(free), "qpid.work_dir", "target/qpid")));
			Runtime.getRuntime().addShutdownHook(new Thread(launcher::shutdown));
			port = free;
		}
		return port;
	}

}
