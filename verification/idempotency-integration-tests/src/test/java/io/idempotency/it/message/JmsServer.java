package io.idempotency.it.message;

import java.util.Map;

import jakarta.jms.ConnectionFactory;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.api.core.TransportConfiguration;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.remoting.impl.invm.InVMAcceptorFactory;
import org.apache.activemq.artemis.core.remoting.impl.invm.InVMConnectorFactory;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;

/** One Artemis for all tests of this JVM, without a port; it ends with the JVM. */
final class JmsServer {

	/** Spring Boot counts its own servers from 0. */
	private static final Map<String, Object> NUMBER = Map.of("serverId", "4711");

	static final int MOST_DELIVERIES = 3;

	private static EmbeddedActiveMQ server;

	private JmsServer() {
	}

	static ConnectionFactory connections() {
		return new ActiveMQConnectionFactory(false,
				new TransportConfiguration(InVMConnectorFactory.class.getName(), NUMBER));
	}

	static synchronized void start() throws Exception {
		if (server != null) {
			return;
		}
		Configuration configuration = new ConfigurationImpl();
		configuration.setPersistenceEnabled(false);
		configuration.setSecurityEnabled(false);
		configuration.setJournalDirectory("target/artemis");
		configuration
			.addAcceptorConfiguration(new TransportConfiguration(InVMAcceptorFactory.class.getName(), NUMBER, "vm"));
		configuration.addAddressSetting("#",
				new AddressSettings().setMaxDeliveryAttempts(MOST_DELIVERIES)
					.setRedeliveryDelay(50)
					.setDeadLetterAddress(SimpleString.of("dead")));
		EmbeddedActiveMQ started = new EmbeddedActiveMQ();
		started.setConfiguration(configuration);
		started.start();
		server = started;
	}

}
