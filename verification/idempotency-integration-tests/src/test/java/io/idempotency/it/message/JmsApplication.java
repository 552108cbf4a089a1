package io.idempotency.it.message;

import io.idempotency.Idempotent;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jms.annotation.EnableJms;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.jms.config.DefaultJmsListenerContainerFactory;
import org.springframework.jms.connection.CachingConnectionFactory;
import org.springframework.jms.core.JmsTemplate;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.SendTo;

/** Guarded listeners of JMS, each with a queue of its own. */
@SpringBootConfiguration
@EnableAutoConfiguration
@EnableJms
@Import({ Deliveries.class, JmsApplication.Listeners.class })
class JmsApplication {

	@Bean
	ConnectionFactory connectionFactory() throws Exception {
		JmsServer.start();
		return new CachingConnectionFactory(JmsServer.connections());
	}

	@Bean
	JmsTemplate jmsTemplate(ConnectionFactory connections) {
		JmsTemplate template = new JmsTemplate(connections);
		template.setReceiveTimeout(30_000);
		return template;
	}

	@Bean
	DefaultJmsListenerContainerFactory jmsListenerContainerFactory(ConnectionFactory connections) {
		DefaultJmsListenerContainerFactory factory = new DefaultJmsListenerContainerFactory();
		factory.setConnectionFactory(connections);
		factory.setSessionTransacted(true);
		factory.setReceiveTimeout(200L);
		return factory;
	}

	@Bean
	DefaultJmsListenerContainerFactory acknowledging(ConnectionFactory connections) {
		DefaultJmsListenerContainerFactory factory = new DefaultJmsListenerContainerFactory();
		factory.setConnectionFactory(connections);
		factory.setSessionAcknowledgeMode(Session.CLIENT_ACKNOWLEDGE);
		factory.setReceiveTimeout(200L);
		return factory;
	}

	static class Listeners {

		private final Deliveries deliveries;

		Listeners(Deliveries deliveries) {
			this.deliveries = deliveries;
		}

		@JmsListener(destination = "by-property")
		@Idempotent(header = "idempotencyKey")
		public void byProperty(TextMessage message) throws JMSException {
			this.deliveries.effect(message.getText());
		}

		@JmsListener(destination = "by-jms-id")
		@Idempotent("messageId()")
		public void byMessageId(Message<String> message) {
			String payload = message.getPayload();
			if (this.deliveries.enter(payload) == 1) {
				throw new IllegalStateException("The first try fails");
			}
			this.deliveries.effect(payload);
		}

		@JmsListener(destination = "two-a")
		@JmsListener(destination = "two-b")
		@Idempotent(key = "#payload")
		public void twoQueues(String payload, Message<String> message) {
			this.deliveries.effect(payload);
		}

		@JmsListener(destination = "asking")
		@SendTo("answered")
		@Idempotent("#payload")
		public String asking(String payload) {
			this.deliveries.effect(payload);
			return payload + " " + this.deliveries.enter(payload);
		}

		/** Rolls back by itself, and returns as if nothing were wrong. */
		@JmsListener(destination = "rolled-back")
		@Idempotent("#payload")
		public void rollingBack(String payload, Session session) throws JMSException {
			if (this.deliveries.enter(payload) == 1) {
				session.rollback();
				return;
			}
			this.deliveries.effect(payload);
		}

		@JmsListener(destination = "recovered", containerFactory = "acknowledging")
		@Idempotent("#payload")
		public void recovering(String payload, Session session) throws JMSException {
			if (this.deliveries.enter(payload) == 1) {
				session.recover();
				return;
			}
			this.deliveries.effect(payload);
		}

		/** The same without a guard, to compare with. */
		@JmsListener(destination = "recovered-unguarded", containerFactory = "acknowledging")
		public void recoveringUnguarded(String payload, Session session) throws JMSException {
			if (this.deliveries.enter(payload) == 1) {
				session.recover();
				return;
			}
			this.deliveries.effect(payload);
		}

	}

}
