#!/usr/bin/perl
# An SMSC made of Debian's libnet-smpp-perl, for smpp-peers.ts. First line out: its port. Then a line for each submit_sm:
# data_coding esm_class source destination hex(text) and the TLVs that have no name in the module, as tag=hex.
use strict;
use warnings;
use IO::Handle;
use Net::SMPP;

$| = 1;
$SIG{CHLD} = 'IGNORE';

my $listener = Net::SMPP->new_listen('127.0.0.1', port => 0, smpp_version => 0x34) or die "cannot listen: $!";
print $listener->sockport, "\n";

while (my $peer = $listener->accept) {
    next if fork;
    serve($peer);
    exit;
}

sub serve {
    my ($peer) = @_;
    my %bound = (
        1 => sub { $peer->bind_receiver_resp(system_id => 'perl', seq => $_[0]{seq}) },
        2 => sub { $peer->bind_transmitter_resp(system_id => 'perl', seq => $_[0]{seq}) },
        9 => sub { $peer->bind_transceiver_resp(system_id => 'perl', seq => $_[0]{seq}) },
    );
    my $count = 0;
    while (my $pdu = $peer->read_pdu) {
        my $command = $pdu->{cmd};
        if ($bound{$command}) { $bound{$command}->($pdu) }
        elsif ($command == 4) { submitted($peer, $pdu, sprintf('%s%04x', 'a' x 4, $count++)) }
        elsif ($command == 3) {
            $peer->query_sm_resp(message_id => $pdu->{message_id}, final_date => '', message_state => 2,
                network_error_code => 0, error_code => 0, seq => $pdu->{seq});
        }
        elsif ($command == 0x15) { $peer->enquire_link_resp(seq => $pdu->{seq}) }
        elsif ($command == 6) { $peer->unbind_resp(seq => $pdu->{seq}); return }
    }
}

sub submitted {
    my ($peer, $pdu, $id) = @_;
    my $text = defined $pdu->{message_payload} ? $pdu->{message_payload} : $pdu->{short_message};
    my @tlvs = map { sprintf '%04x=%s', $_, unpack 'H*', $pdu->{$_} } sort grep { /^\d+$/ && $_ > 0xff } keys %$pdu;
    print join(' ', $pdu->{data_coding}, $pdu->{esm_class}, $pdu->{source_addr}, $pdu->{destination_addr},
        unpack('H*', $text) || '-', @tlvs), "\n";
    $peer->submit_sm_resp(message_id => $id, seq => $pdu->{seq});
    $peer->deliver_sm(
        async => 1, esm_class => 4, source_addr => $pdu->{destination_addr}, destination_addr => $pdu->{source_addr},
        short_message => "id:\U$id\E sub:001 dlvrd:001 submit date:2601151200 done date:2601151201 stat:DELIVRD err:000 text:",
    );
}
