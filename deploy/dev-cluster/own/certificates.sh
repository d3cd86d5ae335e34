# One authority, one certificate for the API server, one for its administrator, which all parts use.
# shellcheck shell=bash disable=SC2154

make_certificates() {
  # The last file tells a whole set from one that was broken off.
  [[ -f $PKI/complete ]] && return
  local names="DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,IP:$HOST,IP:$FIRST_SERVICE,IP:127.0.0.1"
  (
    cd "$PKI" || exit
    umask 077
    exec 2>openssl.log
    openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj "/CN=Muster development cluster" -days 3650
    make_certificate apiserver "/CN=kube-apiserver" "subjectAltName=$names"
    make_certificate admin "/O=system:masters/CN=admin" "extendedKeyUsage=clientAuth"
    openssl genrsa -out accounts.key 2048
    openssl rsa -in accounts.key -pubout -out accounts.pub
    touch complete
  )
}

# make_certificate NAME SUBJECT EXTENSION
make_certificate() {
  openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "$2"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -extfile <(echo "$3") -out "$1.crt"
}
